/**
 * The decoder as a whole: gradients against finite differences over its options, what matters to what in each attention
 * pattern, and its read-outs.
 */
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { multiply } from '../algebra/arithmetic.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { crossEntropy } from '../losses/cross-entropy.ts'
import { decoder } from './decoder.ts'
import { completeDecoder, type DecoderOptions } from './decoder-configuration.ts'
import { decoderHead } from './decoder-stack.ts'

const tiny: DecoderOptions = {
  vocabulary: 7,
  contextLength: 5,
  depth: 2,
  width: 8,
  heads: 2,
  feedForwardWidth: 6,
  tiedEmbeddings: true,
}

const variants: readonly (Partial<DecoderOptions> & { zLoss?: number })[] = [
  {},
  { norm: 'post', queryKeyNorm: true, activation: 'relu-squared', tiedEmbeddings: false, logitSoftCap: 2 },
  { heads: 4, keyValueHeads: 2, positions: 'none', activation: 'gelu', residualScaling: 'depth', zLoss: 0.1 },
  { keyValueHeads: 1, queryKeyNorm: true, norm: 'post', residualScaling: 'depth', logitSoftCap: 1, zLoss: 0.01 },
  { positions: 'alibi', heads: 3, keyValueHeads: 3, headWidth: 2, normKind: 'layer', normEpsilon: 0.1 },
  { positions: 'learned', normKind: 'layer', norm: 'post', residualScaling: 'depth', tiedEmbeddings: false },
  { headWidth: 6, keyValueHeads: 1, queryKeyNorm: true, rotaryBase: 50, normEpsilon: 0.1 },
]

const parameterInputs = (graph: Graph, configuration: DecoderOptions) =>
  new Map(decoder(configuration).parameters.map(({ name, shape }) => [name, graph.input(name, shape)]))

/** Initial values moved away from their start, so that no gain is 1 and nothing cancels. */
function perturbedValues(configuration: DecoderOptions) {
  const random = seededRandom('perturbation')
  const { parameters, initialValues } = decoder(configuration)
  const values = initialValues(1)
  return Object.fromEntries(
    parameters.map(({ name, shape }) => {
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
          return crossEntropy(
            logits,
            { kind: 'single', tokens: graph.indices('targets', [10], 7) },
            graph.input('weights', [10, 1]),
            { zLoss },
          ).objective
        },
        elements: 5,
      })
      expect(error).toBeLessThan(1e-5)
    },
  )
})

/** The logits of one row, in double precision. */
async function rowLogits(configuration: DecoderOptions, entries: number) {
  const graph = new Graph('float64')
  const { logits } = decoder(configuration).build({
    graph,
    parameters: parameterInputs(graph, configuration),
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

/**
 * By entry of the row, the entries whose token matters to its logits. Throws for a difference that is neither nothing
 * nor much.
 */
async function influences(configuration: DecoderOptions, entries: number, length = entries): Promise<string[]> {
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
  it.each(variants)('causal: what came before and itself: %j', async ({ zLoss: _, ...changes }) => {
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

it('block diffusion refuses a row that cannot hold each token twice', async () => {
  const configuration = { ...tiny, contextLength: 8, attention: 'block-diffusion', attentionBlock: 2 } as const
  await expect(rowLogits(configuration, 5)).rejects.toThrow('a row of 5 entries cannot hold each token noisy and clean')
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
  const configuration = completeDecoder({ ...tiny, positions: 'learned' })
  const model = decoder(configuration)
  expect(model.readouts).toEqual({ 'hidden.0': 8, 'hidden.1': 8, 'hidden.2': 8 })
  const graph = new Graph('float64')
  const parameters = parameterInputs(graph, configuration)
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
