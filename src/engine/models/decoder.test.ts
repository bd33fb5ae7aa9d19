/**
 * The decoder as a whole: gradients against finite differences over its options, causality, initial values, counts, and what
 * its configuration refuses.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { Graph } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { tokenLoss } from '../losses/token-loss.ts'
import { decoderInputs, decoderLogits } from './decoder.ts'
import { type DecoderConfiguration, decoderProblems } from './decoder-configuration.ts'
import {
  decoderParameters,
  estimatedFlopsPerToken,
  initialDecoderValues,
  parameterCount,
} from './decoder-parameters.ts'

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

describe('gradients', () => {
  it.each(variants)('agree with finite differences: %j', async ({ zLoss = 0, ...changes }) => {
    const configuration = { ...tiny, ...changes }
    const tokens = Int32Array.of(1, 2, 3, 6, 0, 4, 4, 5, 1, 2)
    const error = await worstDerivativeError({
      inputs: perturbedValues(configuration),
      fixed: {
        tokens,
        targets: Int32Array.of(2, 3, 6, 0, 1, 4, 5, 1, 2, 0),
        weights: Float64Array.of(1, 0.5, 0, -1, 1, 1, 2, 1, 0.3, 1),
      },
      build: (graph, inputs) => {
        const indices = graph.indices('tokens', [10], 7)
        const logits = decoderLogits(configuration, new Map(Object.entries(inputs)), indices, 2)
        return tokenLoss(logits, graph.indices('targets', [10], 7), graph.input('weights', [10, 1]), zLoss).objective
      },
      elements: 12,
    })
    expect(error).toBeLessThan(1e-5)
  })
})

it.each(variants)('a later token changes no earlier logits, an earlier one does: %j', async changes => {
  const configuration = { ...tiny, ...changes }
  const graph = new Graph('float64')
  const parameters = decoderInputs(graph, configuration)
  const program = await compile({
    logits: decoderLogits(configuration, parameters, graph.indices('tokens', [5], 7), 1),
  })
  const values = Object.fromEntries(
    Object.entries(perturbedValues(configuration)).map(([name, input]) => [name, input.values]),
  )
  const at = async (...tokens: number[]) =>
    (await program.run({ ...values, tokens: Int32Array.from(tokens) }))['logits']!
  const base = await at(1, 2, 3, 4, 5)
  const later = await at(1, 2, 3, 6, 5)
  const earlier = await at(0, 2, 3, 4, 5)
  const distance = (a: ArrayLike<number>, position: number) =>
    Math.max(
      ...Array.from({ length: 7 }, (_, token) => Math.abs(a[position * 7 + token]! - base[position * 7 + token]!)),
    )
  for (const position of [0, 1, 2]) expect(distance(later, position)).toBeLessThan(1e-12)
  for (const position of [3, 4]) expect(distance(later, position)).toBeGreaterThan(1e-6)
  for (const position of [0, 1, 2, 3, 4]) expect(distance(earlier, position)).toBeGreaterThan(1e-6)
  if (configuration.logitSoftCap !== null)
    expect(Math.max(...base.map(Math.abs))).toBeLessThan(configuration.logitSoftCap)
})

it('positions none does not know the order of what came before; rotary does', async () => {
  for (const positions of ['none', 'rotary'] as const) {
    const configuration = { ...tiny, depth: 1, positions }
    const graph = new Graph('float64')
    const parameters = decoderInputs(graph, configuration)
    const tokens = graph.indices('tokens', [4], 7)
    const program = await compile({ logits: decoderLogits(configuration, parameters, tokens, 1) })
    const inputs = Object.entries(perturbedValues(configuration)).map(([name, input]) => [name, input.values])
    const last = async (...ids: number[]) =>
      [...(await program.run({ ...Object.fromEntries(inputs), tokens: Int32Array.from(ids) }))['logits']!].slice(-7)
    const [one, other] = [await last(1, 2, 3, 4), await last(3, 1, 2, 4)]
    const distance = Math.max(...one.map((value, index) => Math.abs(value - other[index]!)))
    if (positions === 'none') expect(distance).toBeLessThan(1e-12)
    else expect(distance).toBeGreaterThan(1e-3)
  }
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
      positions: fc.constantFrom('rotary', 'none'),
    })
    fc.assert(
      fc.property(configurations, changes => {
        const configuration = { ...tiny, ...changes } as DecoderConfiguration
        if (decoderProblems(configuration).length > 0) return
        const graph = new Graph()
        const logits = decoderLogits(
          configuration,
          decoderInputs(graph, configuration),
          graph.indices('tokens', [5], 7),
          1,
        )
        expect(logits.shape).toEqual([5, 7])
      }),
    )
  })
})
