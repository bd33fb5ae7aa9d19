/**
 * The decoder as a whole: gradients against finite differences over its options, causality, initial values, counts, and what
 * its configuration refuses.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { multiply } from '../algebra/arithmetic.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { tokenLoss } from '../losses/token-loss.ts'
import { decoder, decoderInputs } from './decoder.ts'
import { type DecoderConfiguration, decoderProblems } from './decoder-configuration.ts'
import {
  decoderParameters,
  estimatedFlopsPerToken,
  initialDecoderValues,
  parameterCount,
} from './decoder-parameters.ts'
import { decoderHead } from './decoder-stack.ts'

const tiny: DecoderConfiguration = {
  vocabulary: 7,
  contextLength: 5,
  depth: 2,
  width: 8,
  heads: 2,
  keyValueHeads: 2,
  feedForwardWidth: 6,
  positions: 'rotary',
  norm: 'pre',
  queryKeyNorm: false,
  activation: 'swiglu',
  tiedEmbeddings: true,
  logitSoftCap: null,
  initialisationScale: 1,
  residualScaling: 'none',
}

const variants: readonly (Partial<DecoderConfiguration> & { zLoss?: number })[] = [
  {},
  { norm: 'post', queryKeyNorm: true, activation: 'relu-squared', tiedEmbeddings: false, logitSoftCap: 2 },
  { heads: 4, keyValueHeads: 2, positions: 'none', activation: 'gelu', residualScaling: 'depth', zLoss: 0.1 },
  { keyValueHeads: 1, queryKeyNorm: true, norm: 'post', residualScaling: 'depth', logitSoftCap: 1, zLoss: 0.01 },
  { positions: 'alibi', heads: 3, keyValueHeads: 3, headWidth: 2, normKind: 'layer', normEpsilon: 0.1 },
  { positions: 'learned', normKind: 'layer', norm: 'post', residualScaling: 'depth', tiedEmbeddings: false },
  { headWidth: 6, keyValueHeads: 1, queryKeyNorm: true, rotaryBase: 50, normEpsilon: 0.1 },
]

/** Initial values moved away from their start, so that no gain is 1 and nothing cancels. */
function perturbedValues(configuration: DecoderConfiguration) {
  const random = seededRandom('perturbation')
  const values = initialDecoderValues(configuration, 1)
  return Object.fromEntries(
    decoderParameters(configuration).map(({ name, shape }) => {
      const moved = Float64Array.from(values.get(name)!, value => value + 0.2 * random.normal())
      return [name, { shape, values: moved }]
    }),
  )
}

/** Dropout with masks that are told: half of the entries, each of those that stay doubled. */
function halfDropped(name: string, tensor: Tensor, rate: number): Tensor {
  const random = seededRandom(name)
  const kept = Array.from({ length: tensor.shape[0]! * tensor.shape[1]! }, () =>
    random.uniform() < 0.5 ? 4 * rate : 0,
  )
  return multiply(tensor, tensor.graph.constant(kept, tensor.shape))
}

describe('gradients', () => {
  it.each([...variants, { dropout: 0.5 }, { attention: 'block-causal', attentionBlock: 2 } as const])(
    'agree with finite differences: %j',
    async ({ zLoss = 0, ...changes }: (typeof variants)[number]) => {
      const configuration = { ...tiny, ...changes }
      const error = await worstDerivativeError({
        inputs: perturbedValues(configuration),
        fixed: {
          tokens: Int32Array.of(1, 2, 3, 6, 0, 4, 4, 5, 1, 2),
          lengths: Int32Array.of(5, 3),
          targets: Int32Array.of(2, 3, 6, 0, 1, 4, 5, 1, 2, 0),
          weights: Float64Array.of(1, 0.5, 0, -1, 1, 1, 2, 1, 0, 0),
        },
        build: (graph, inputs) => {
          const { logits } = decoder(configuration).build({
            graph,
            parameters: new Map(Object.entries(inputs)),
            rows: 2,
            positions: 5,
            tokens: graph.indices('tokens', [10], 7),
            lengths: graph.indices('lengths', [2], 6),
            dropout: halfDropped,
          })
          return tokenLoss(logits, graph.indices('targets', [10], 7), graph.input('weights', [10, 1]), zLoss).objective
        },
        elements: 8,
      })
      expect(error).toBeLessThan(1e-5)
    },
  )
})

/** The logits of one row, in double precision. */
async function rowLogits(configuration: DecoderConfiguration, entries: number) {
  const graph = new Graph('float64')
  const { logits } = decoder(configuration).build({
    graph,
    parameters: decoderInputs(graph, configuration),
    rows: 1,
    positions: entries,
    tokens: graph.indices('tokens', [entries], configuration.vocabulary),
    lengths: graph.indices('lengths', [1], entries + 1),
    dropout: (_, tensor) => tensor,
  })
  const program = await compile({ logits })
  const values = Object.fromEntries(
    Object.entries(perturbedValues(configuration)).map(([name, input]) => [name, input.values]),
  )
  return async (tokens: readonly number[], length = entries) => {
    const run = await program.run({ ...values, tokens: Int32Array.from(tokens), lengths: Int32Array.of(length) })
    return Array.from({ length: entries }, (_, entry) => [...run['logits']!.slice(7 * entry, 7 * entry + 7)])
  }
}

const distance = (a: readonly number[], b: readonly number[]) =>
  Math.max(...a.map((value, token) => Math.abs(value - b[token]!)))

/** By entry of the row, the entries whose token matters to its logits. Throws for a difference that is neither nothing nor much. */
async function influences(configuration: DecoderConfiguration, entries: number, length = entries): Promise<string[]> {
  const logits = await rowLogits(configuration, entries)
  const tokens = Array.from({ length: entries }, (_, entry) => entry % 6)
  const base = await logits(tokens, length)
  const changed = await Promise.all(tokens.map((_, entry) => logits(tokens.with(entry, 6), length)))
  return base.slice(0, length).map((row, entry) =>
    changed
      .map(other => {
        const moved = distance(other[entry]!, row)
        if (moved > 1e-12 && moved < 1e-6) throw new Error(`${moved} is neither nothing nor much`)
        return moved > 1e-6 ? '1' : '0'
      })
      .join(''),
  )
}

describe('who matters to whom', () => {
  it.each(variants)('causal: what came before and itself: %j', async changes => {
    expect(await influences({ ...tiny, ...changes }, 5)).toEqual(['10000', '11000', '11100', '11110', '11111'])
  })

  it('bidirectional: all that is real, and no padding', async () => {
    const configuration = { ...tiny, attention: 'bidirectional' } as const
    expect(await influences(configuration, 5, 3)).toEqual(['11100', '11100', '11100'])
    const [short, padded] = [await rowLogits(configuration, 3), await rowLogits(configuration, 5)]
    const [alone, filled] = [await short([1, 2, 3]), await padded([1, 2, 3, 6, 6], 3)]
    alone.forEach((row, entry) => {
      expect(distance(row, filled[entry]!)).toBeLessThan(1e-12)
    })
  })

  it('block-causal: its block and those before it, and no padding', async () => {
    const configuration = { ...tiny, attention: 'block-causal', attentionBlock: 2 } as const
    expect(await influences(configuration, 5, 5)).toEqual(['11000', '11000', '11110', '11110', '11111'])
    expect(await influences(configuration, 5, 3)).toEqual(['11000', '11000', '11100'])
  })

  it.each(['rotary', 'alibi', 'learned'] as const)(
    'block diffusion with %s positions: noisy entries have the logits of a block-causal model after clean blocks',
    async positions => {
      const twice = { ...tiny, positions, contextLength: 12, attention: 'block-diffusion', attentionBlock: 2 } as const
      const once = { ...twice, contextLength: 6, attention: 'block-causal' } as const
      const clean = [1, 2, 3, 4, 5, 0]
      const noisy = [6, 2, 6, 6, 5, 6]
      const interleaved = clean.flatMap((token, position) => [noisy[position]!, token])
      const together = await (await rowLogits(twice, 12))(interleaved)
      const plain = await rowLogits(once, 6)
      const ofClean = await plain(clean)
      for (const block of [0, 1, 2]) {
        const place = (position: number) => Math.floor(position / 2) === block
        const denoising = await plain(clean.map((token, position) => (place(position) ? noisy[position]! : token)))
        for (const position of [2 * block, 2 * block + 1]) {
          expect(distance(together[2 * position]!, denoising[position]!)).toBeLessThan(1e-12)
          expect(distance(together[2 * position + 1]!, ofClean[position]!)).toBeLessThan(1e-12)
        }
      }
    },
  )
})

it('logits stay within the soft cap', async () => {
  const logits = await rowLogits({ ...tiny, logitSoftCap: 0.5 }, 5)
  const absolute = (await logits([1, 2, 3, 4, 5])).flat().map(Math.abs)
  expect(Math.max(...absolute)).toBeLessThan(0.5)
  expect(Math.max(...absolute)).toBeGreaterThan(0.25)
})

it('positions none does not know the order of what came before; the others do', async () => {
  for (const positions of ['none', 'rotary', 'alibi', 'learned'] as const) {
    const logits = await rowLogits({ ...tiny, depth: 1, positions }, 4)
    const [one, other] = [await logits([1, 2, 3, 4]), await logits([3, 1, 2, 4])]
    if (positions === 'none') expect(distance(one[3]!, other[3]!)).toBeLessThan(1e-12)
    else expect(distance(one[3]!, other[3]!)).toBeGreaterThan(1e-3)
  }
})

it('read-outs are the hidden states: the embedding first, and what the head makes logits of last', async () => {
  const configuration = { ...tiny, positions: 'learned' } as const
  const model = decoder(configuration)
  expect(model.readouts).toEqual({ 'hidden.0': 8, 'hidden.1': 8, 'hidden.2': 8 })
  const graph = new Graph('float64')
  const parameters = decoderInputs(graph, configuration)
  const { logits, readouts } = model.build({
    graph,
    parameters,
    rows: 1,
    positions: 2,
    tokens: graph.indices('tokens', [2], 7),
    lengths: graph.indices('lengths', [1], 3),
    dropout: (_, tensor) => tensor,
  })
  const again = decoderHead(configuration, parameters, readouts.get('hidden.2')!)
  const program = await compile({ logits, again, first: readouts.get('hidden.0')! })
  const inputs = perturbedValues(configuration)
  const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.values]))
  const run = await program.run({ ...values, tokens: Int32Array.of(3, 5), lengths: Int32Array.of(2) })
  expect(run['again']).toEqual(run['logits'])
  const [embedding, positions] = [values['embedding']!, values['positions']!]
  const sums = [3, 5].flatMap((token, place) =>
    Array.from({ length: 8 }, (_, channel) => embedding[8 * token + channel]! + positions[8 * place + channel]!),
  )
  expect([...run['first']!]).toEqual(sums)
})

describe('initial values', () => {
  const configuration = { ...tiny, vocabulary: 256, width: 64, heads: 4, keyValueHeads: 4, tiedEmbeddings: false }
  const deviation = (values: Float32Array) =>
    Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length)

  it('have the deviations that the configuration says', () => {
    for (const scale of [1, 0.5]) {
      const values = initialDecoderValues({ ...configuration, initialisationScale: scale }, 3)
      expect(deviation(values.get('embedding')!)).toBeCloseTo(scale / 8, 2)
      expect(deviation(values.get('blocks.1.attention.query')!)).toBeCloseTo(scale / 8, 2)
      expect(deviation(values.get('head')!)).toBeCloseTo(scale / 32, 2)
      expect([...new Set(values.get('norm')!)]).toEqual([1])
    }
  })

  it('are 0 for biases, and for learned positions as for the embedding', () => {
    const values = initialDecoderValues({ ...configuration, positions: 'learned', normKind: 'layer' }, 3)
    expect([...new Set(values.get('blocks.0.feedForward.normBias')!)]).toEqual([0])
    expect([...new Set(values.get('normBias')!)]).toEqual([0])
    expect(deviation(values.get('positions')!)).toBeCloseTo(1 / 8, 2)
  })

  it('depend on the seed and the name alone', () => {
    const [a, b, other] = [1, 1, 2].map(seed => initialDecoderValues(configuration, seed))
    const deeper = initialDecoderValues({ ...configuration, depth: 3 }, 1)
    for (const [name, values] of a!) {
      expect(b!.get(name)).toEqual(values)
      expect(deeper.get(name)).toEqual(values)
      if (!name.toLowerCase().includes('norm')) expect(other!.get(name)).not.toEqual(values)
    }
  })
})

it('counts parameters and operations', () => {
  // Embedding 7 × 8; a block: two gains, query, key, value, output 8 × 8, three feed-forward matrices 8 × 6; a last gain.
  expect(parameterCount(tiny)).toBe(56 + 2 * (16 + 4 * 64 + 3 * 48) + 8)
  expect(parameterCount({ ...tiny, tiedEmbeddings: false })).toBe(parameterCount(tiny) + 56)
  expect(estimatedFlopsPerToken(tiny)).toBe(6 * (56 + 2 * (4 * 64 + 3 * 48)) + 12 * 2 * 8 * 5)
  expect(estimatedFlopsPerToken({ ...tiny, tiedEmbeddings: false })).toBe(estimatedFlopsPerToken(tiny))
  // Heads of 6 channels: queries and output 8 × 12, keys and values 8 × 12 with two heads of their own.
  const wide = { ...tiny, headWidth: 6 }
  expect(parameterCount(wide)).toBe(56 + 2 * (16 + 4 * 96 + 3 * 48) + 8)
  expect(estimatedFlopsPerToken(wide)).toBe(6 * (56 + 2 * (4 * 96 + 3 * 48)) + 12 * 2 * 12 * 5)
  expect(parameterCount({ ...tiny, normKind: 'layer' })).toBe(parameterCount(tiny) + 2 * 16 + 8)
  expect(parameterCount({ ...tiny, positions: 'learned' })).toBe(parameterCount(tiny) + 5 * 8)
  const { feedForwardWidth: _, ...byDefault } = tiny
  expect(parameterCount(byDefault)).toBe(56 + 2 * (16 + 4 * 64 + 3 * 8 * 24) + 8)
})

describe('a configuration that is not valid', () => {
  it.each<readonly [Record<string, unknown>, string]>([
    [{ depth: 0 }, 'depth is 0: expected a positive whole number'],
    [{ width: 8.5 }, 'width is 8.5: expected a positive whole number'],
    [{ heads: 3 }, 'width is 8: expected a multiple of heads, which is 3'],
    [{ heads: 4, keyValueHeads: 3 }, 'keyValueHeads is 3: expected a divisor of heads, which is 4'],
    [
      { heads: 8, keyValueHeads: 8 },
      'width is 8: expected an even number of channels per head for rotary positions, not 1',
    ],
    [{ positions: 'sine' }, 'positions is "sine": expected "rotary" or "alibi" or "learned" or "none"'],
    [{ headWidth: 3 }, 'headWidth is 3: expected an even number for rotary positions'],
    [{ normKind: 'batch' }, 'normKind is "batch": expected "rms" or "layer", or absent'],
    [{ dropout: 1 }, 'dropout is 1: expected a number from 0 to below 1, or absent'],
    [{ attention: 'sideways' }, 'attention is "sideways": expected "causal" or'],
    [
      { attention: 'block-causal' },
      'attentionBlock is undefined: expected a positive whole number for block-causal attention',
    ],
    [
      { attention: 'block-diffusion', attentionBlock: 2 },
      'contextLength is 5: expected an even number: a row holds each token noisy and clean',
    ],
    [
      { rotaryScaling: { factor: 8, lowFrequencyFactor: 4, highFrequencyFactor: 1, originalContextLength: 64 } },
      'expected four positive numbers with lowFrequencyFactor below highFrequencyFactor, or absent',
    ],
    [{ activation: 'gleu' }, 'activation is "gleu": expected "gelu" or "swiglu" or "relu-squared"'],
    [{ logitSoftCap: 0 }, 'logitSoftCap is 0: expected a positive number or null'],
    [{ initialisationScale: Number.NaN }, 'initialisationScale is NaN: expected a positive number'],
    [{ tiedEmbeddings: 'yes' }, 'tiedEmbeddings is "yes": expected true or false'],
    [{ feedForwardWidth: -1 }, 'feedForwardWidth is -1: expected a positive whole number, or absent'],
  ])('%j', (changes, sentence) => {
    expect(decoderProblems({ ...tiny, ...changes } as DecoderConfiguration).join('\n')).toContain(sentence)
  })

  it('is told apart from a valid one exactly: what has no problem can be built', () => {
    const size = fc.integer({ min: 0, max: 9 })
    const configurations = fc.record({
      ...Object.fromEntries(['width', 'heads', 'keyValueHeads'].map(field => [field, size])),
      headWidth: fc.option(size, { nil: undefined }),
      positions: fc.constantFrom('rotary', 'alibi', 'learned', 'none'),
      attention: fc.constantFrom(undefined, 'causal', 'bidirectional', 'block-causal', 'block-diffusion'),
      attentionBlock: fc.constantFrom(undefined, 0, 1, 3),
      contextLength: fc.constantFrom(8, 9),
    })
    fc.assert(
      fc.property(configurations, changes => {
        const configuration = { ...tiny, ...changes } as unknown as DecoderConfiguration
        if (decoderProblems(configuration).length > 0) return
        const graph = new Graph()
        const { logits } = decoder(configuration).build({
          graph,
          parameters: decoderInputs(graph, configuration),
          rows: 1,
          positions: 8,
          tokens: graph.indices('tokens', [8], 7),
          lengths: graph.indices('lengths', [1], 9),
          dropout: (_, tensor) => tensor,
        })
        expect(logits.shape).toEqual([8, 7])
      }),
    )
  })
})
