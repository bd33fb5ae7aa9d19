/**
 * The decoder's configuration: what it refuses, and what sizes, costs and beginnings follow from it.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Graph } from '../graph/graph.ts'
import { decoder } from './decoder.ts'
import { completeDecoder, type DecoderOptions, decoderProblems } from './decoder-configuration.ts'
import { estimatedFlopsPerToken, parameterCount } from './decoder-parameters.ts'
import type { MemoryConfiguration } from './memory-configuration.ts'

const tiny: DecoderOptions = {
  vocabulary: 7,
  contextLength: 5,
  depth: 2,
  width: 8,
  heads: 2,
  feedForwardWidth: 6,
  tiedEmbeddings: true,
}

describe('what is not given', () => {
  const needed = { vocabulary: 7, contextLength: 5, depth: 3, width: 8, heads: 2 }

  it('is the default, also where it is undefined', () => {
    const whole = {
      ...needed,
      keyValueHeads: 2,
      headWidth: 4,
      feedForwardWidth: 24,
      positions: 'rotary',
      rotaryBase: 10_000,
      attention: 'causal',
      norm: 'pre',
      normKind: 'rms',
      normEpsilon: 1e-6,
      dropout: 0,
      queryKeyNorm: false,
      activation: 'swiglu',
      tiedEmbeddings: false,
      logitSoftCap: null,
      initialisationScale: 1,
      residualScaling: 'none',
    }
    expect(decoder(needed).configuration).toEqual(whole)
    const untyped = { ...needed, norm: undefined, heads: 2, headWidth: undefined } as unknown as DecoderOptions
    expect(decoder(untyped).configuration).toEqual(whole)
  })

  it('follows from what is given', () => {
    const given = { activation: 'gelu', keyValueHeads: 1 } as const
    expect(completeDecoder({ ...needed, ...given })).toMatchObject({ feedForwardWidth: 32, keyValueHeads: 1 })
  })

  it('of a memory is the default too where it is undefined', () => {
    const memory = { slots: 4, chosen: 2, productKeys: undefined, block: undefined } as unknown as MemoryConfiguration
    expect(completeDecoder({ ...needed, memory }).memory).toEqual({
      slots: 4,
      chosen: 2,
      productKeys: false,
      block: 2,
      query: 'state',
    })
  })

  it('is not looked for twice: a whole configuration stays as it is', () => {
    const whole = completeDecoder({ ...needed, memory: { slots: 4, chosen: 2 } })
    expect(completeDecoder(whole)).toEqual(whole)
  })
})

describe('initial values', () => {
  const configuration = { ...tiny, vocabulary: 256, width: 64, heads: 4, keyValueHeads: 4, tiedEmbeddings: false }
  const deviation = (values: Float32Array) =>
    Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length)

  it('have the deviations that the configuration says', () => {
    for (const scale of [1, 0.5]) {
      const values = decoder({ ...configuration, initialisationScale: scale }).initialValues(3)
      expect(deviation(values.get('embedding')!)).toBeCloseTo(scale / 8, 2)
      expect(deviation(values.get('blocks.1.attention.query')!)).toBeCloseTo(scale / 8, 2)
      expect(deviation(values.get('head')!)).toBeCloseTo(scale / 32, 2)
      expect([...new Set(values.get('norm')!)]).toEqual([1])
    }
  })

  it('are 0 for biases, and for learned positions as for the embedding', () => {
    const values = decoder({ ...configuration, positions: 'learned', normKind: 'layer' }).initialValues(3)
    expect([...new Set(values.get('blocks.0.feedForward.normBias')!)]).toEqual([0])
    expect([...new Set(values.get('normBias')!)]).toEqual([0])
    expect(deviation(values.get('positions')!)).toBeCloseTo(1 / 8, 2)
  })

  it('depend on the seed and the name alone', () => {
    const [a, b, other] = [1, 1, 2].map(seed => decoder(configuration).initialValues(seed))
    const deeper = decoder({ ...configuration, depth: 3 }).initialValues(1)
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
    expect(decoderProblems({ ...tiny, ...changes } as DecoderOptions).join('\n')).toContain(sentence)
  })

  it('is said of what was given alone', () => {
    const problems = decoderProblems({ vocabulary: 7, contextLength: 5, depth: 1, width: 8, heads: 0 })
    expect(problems).toEqual(['heads is 0: expected a positive whole number'])
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
        const configuration = { ...tiny, ...changes } as unknown as DecoderOptions
        if (decoderProblems(configuration).length > 0) return
        const graph = new Graph()
        const { parameters, build } = decoder(configuration)
        const { logits } = build({
          graph,
          parameters: new Map(parameters.map(({ name, shape }) => [name, graph.input(name, shape)])),
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
