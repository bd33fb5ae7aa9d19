import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { CrossEntropyDatum } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import { type Denoiser, denoiserOf } from './denoiser.ts'
import { bitsPerByte, duelLogLikelihoods } from './duel.ts'
import { allTexts, tableDenoiser } from './fixtures/table-denoiser.ts'
import { blockByBlock, inRandomOrder, leftToRight, mostConfident, type UnmaskingRule } from './unmasking-rule.ts'

const vocabulary = 4
const maskToken = 3

const rules: Record<string, UnmaskingRule> = {
  'left to right': leftToRight(),
  'two at a time': leftToRight(2),
  'most confident': mostConfident(),
  'the two most confident': mostConfident(2),
  'all at once': mostConfident(9),
  'random order': inRandomOrder(5),
  'block by block': blockByBlock(2, mostConfident()),
  'as the first known token says': ({ tokens, masked }) => {
    const known = tokens.find(token => token !== maskToken) ?? 0
    return [masked[known % masked.length]!]
  },
}

const probabilities = (logLikelihoods: Float64Array) => logLikelihoods.reduce((sum, value) => sum + Math.exp(value), 0)

test.each(Object.entries(rules))('%s: probabilities of all texts sum to one, by any denoiser', async (_, rule) => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async seed => {
      const logLikelihoods = await duelLogLikelihoods(tableDenoiser(vocabulary, seed), allTexts(3, 3), rule)
      expect(probabilities(logLikelihoods)).toBeCloseTo(1, 6)
    }),
    { numRuns: 10 },
  )
})

test('after a given beginning, too', async () => {
  const texts = allTexts(3, 3).filter(([first]) => first === 2)
  const logLikelihoods = await duelLogLikelihoods(tableDenoiser(vocabulary, 7), texts, mostConfident(), { given: 1 })
  expect(probabilities(logLikelihoods)).toBeCloseTo(1, 6)
})

test('by hand: the rule sees what is unmasked, and what is unmasked together is independent', async () => {
  // Position 1 is surest at first; then the other two depend on what it became.
  const rows = (tokens: Int32Array) => {
    const odds =
      tokens[1] === 1
        ? [
            [9, 1],
            [1, 1],
            [4, 1],
          ]
        : tokens[1] === 0
          ? [
              [1, 1],
              [1, 1],
              [1, 3],
            ]
          : [
              [3, 2],
              [1, 9],
              [2, 3],
            ]
    return Float32Array.from(odds.flatMap(([a, b]) => [Math.log(a! / (a! + b!)), Math.log(b! / (a! + b!)), -Infinity]))
  }
  const denoiser: Denoiser = { vocabulary: 3, maskToken: 2, distributions: async sequences => sequences.map(rows) }
  const texts = [Int32Array.of(0, 1, 0), Int32Array.of(0, 0, 1)]
  const one = await duelLogLikelihoods(denoiser, texts, mostConfident())
  expect(Math.exp(one[0]!)).toBeCloseTo(0.9 * 0.9 * 0.8, 6)
  expect(Math.exp(one[1]!)).toBeCloseTo(0.1 * 0.75 * 0.5, 6)
  const all = await duelLogLikelihoods(denoiser, texts, mostConfident(3))
  expect(Math.exp(all[0]!)).toBeCloseTo(0.6 * 0.9 * 0.4, 6)
})

test('what is no text, or what no rule may do, is refused with a sentence', async () => {
  const denoiser = tableDenoiser(vocabulary, 1)
  const score = (text: Int32Array, rule: UnmaskingRule, given = 0) =>
    duelLogLikelihoods(denoiser, [text], rule, { given })
  await expect(score(Int32Array.of(0, 3), leftToRight())).rejects.toThrow('sequence 0 has the mask token at position 1')
  await expect(score(Int32Array.of(0, 1), leftToRight(), -1)).rejects.toThrow('given is -1: expected a whole number')
  await expect(score(Int32Array.of(0, 1), () => [])).rejects.toThrow('the rule chose no position')
  await expect(score(Int32Array.of(0, 1), () => [0], 1)).rejects.toThrow('position 0, which is not masked')
  expect(() => mostConfident(0)).toThrow('count is 0: expected a positive whole number')
  expect(() => denoiserOf({ vocabulary, distributions: async () => [] }, 4)).toThrow('the mask token is 4')
})

test('bits per byte', () => {
  expect(bitsPerByte(Math.log(1 / 256) * 10, 10)).toBeCloseTo(8, 12)
})

describe('a real model', () => {
  const configuration: DecoderOptions = {
    vocabulary,
    contextLength: 8,
    depth: 1,
    width: 8,
    heads: 2,
    activation: 'gelu',
    // Large, so that what it says depends a lot on what it sees.
    initialisationScale: 4,
  }
  const engine = createEmbeddedEngine()
  afterAll(() => engine.dispose())

  test('probabilities of all texts sum to one', async () => {
    const trainer = await engine.createTrainer({
      model: decoder({ ...configuration, attention: 'bidirectional' }),
      seed: 2,
    })
    const denoiser = denoiserOf(trainer, maskToken)
    const byRule = new Map<string, Float64Array>()
    for (const [name, rule] of Object.entries(rules)) {
      const logLikelihoods = await duelLogLikelihoods(denoiser, allTexts(3, 3), rule)
      expect(probabilities(logLikelihoods)).toBeCloseTo(1, 5)
      byRule.set(name, logLikelihoods)
    }
    const sampled = denoiserOf(await trainer.snapshot(), maskToken)
    const bySampler = await duelLogLikelihoods(sampled, allTexts(3, 3), mostConfident())
    for (const [index, value] of byRule.get('most confident')!.entries()) expect(bySampler[index]).toBeCloseTo(value, 5)
    // Each rule makes another model of it.
    const likelihoods = [...byRule.values()].map(values => values.map(value => Math.round(1000 * value)).join())
    expect(new Set(likelihoods).size).toBeGreaterThanOrEqual(5)
  })

  test('from left to right by a causal model it is the autoregressive likelihood', async () => {
    const trainer = await engine.createTrainer({ model: decoder(configuration), seed: 3 })
    const shifted = (tokens: Int32Array) => Int32Array.of(maskToken, ...tokens.slice(0, -1))
    const next = denoiserOf(trainer, maskToken)
    const denoiser: Denoiser = { ...next, distributions: sequences => next.distributions(sequences.map(shifted)) }
    const texts = allTexts(3, 3)
    const data = texts.map(
      (text): CrossEntropyDatum => ({
        input: { tokens: shifted(text) },
        targets: text,
        weights: Float32Array.of(1, 1, 1),
        distribution: { blocked: [maskToken] },
      }),
    )
    const { logProbabilities } = await trainer.forward(data, { kind: 'cross_entropy' })
    const logLikelihoods = await duelLogLikelihoods(denoiser, texts, leftToRight())
    for (const [row, [first, second, third]] of logProbabilities.entries())
      expect(logLikelihoods[row]).toBeCloseTo(first! + second! + third!, 5)
  })
})
