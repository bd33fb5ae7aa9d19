import { afterAll, describe, expect, test } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import type { CrossEntropyDatum } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import { denoiserOf } from './denoiser.ts'
import { duelLogLikelihoods } from './duel.ts'
import { allTexts, tableDenoiser } from './fixtures/table-denoiser.ts'
import { type MaskingOptions, maskedBlockData, maskedData } from './masking.ts'
import { mostConfident } from './unmasking-rule.ts'

const maskToken = 3
const text = Int32Array.of(2, 0, 1)
const denoiser = tableDenoiser(4, 11)

/** -Σ weight × log-probability, where the denoiser sees what the datum shows. */
async function losses(data: readonly CrossEntropyDatum[]): Promise<number[]> {
  const distributions = await denoiser.distributions(data.map(({ input }) => input.tokens))
  return data.map(({ targets, weights }, row) =>
    weights.reduce((sum, weight, position) => {
      if (weight === 0) return sum
      return sum - weight * distributions[row]![position * 4 + (targets as Int32Array)[position]!]!
    }, 0),
  )
}

test.each(['independent', 'counted'] as const)(
  '%s: in expectation the loss is that of unmasking one by one, over all orders',
  async masking => {
    // The bound of masked diffusion is the mean over orders of -log p in that order (Ou et al., 2025).
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]
    let bound = 0
    for (const order of orders) {
      const rule = ({ masked }: { masked: readonly number[] }) => [order.find(position => masked.includes(position))!]
      bound -= (await duelLogLikelihoods(denoiser, [text], rule))[0]! / orders.length
    }
    const draws = 20_000
    const random = seededRandom(4).fork(masking)
    const sequences = Array.from({ length: draws }, () => text)
    const values = await losses(maskedData(sequences, { maskToken, random, masking, levels: [1e-6, 1] }))
    const mean = values.reduce((sum, value) => sum + value, 0) / draws
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / draws)
    expect(Math.abs(mean - bound)).toBeLessThan((4 * deviation) / Math.sqrt(draws))
    // A mistake of a few percent would be seen.
    expect((4 * deviation) / Math.sqrt(draws)).toBeLessThan(0.05 * bound)
  },
)

const long = Int32Array.from({ length: 12 }, (_, position) => position % 3)
const maskedPositions = ({ input }: CrossEntropyDatum) =>
  [...input.tokens.keys()].filter(position => input.tokens[position] === maskToken)
const options = (more: Partial<MaskingOptions> = {}): MaskingOptions => ({
  maskToken,
  random: seededRandom(1),
  ...more,
})

test('masked tokens alone have a weight, and everything else stays as it was', () => {
  for (const datum of maskedData(Array(20).fill(long), options({ weight: 0.5 }))) {
    const masked = maskedPositions(datum)
    expect(datum.targets).toBe(long)
    expect(datum.distribution).toEqual({ blocked: [maskToken] })
    const level = 0.5 / (datum.weights[masked[0] ?? 0] || 0.5)
    const weights = long.map((_, position) => (masked.includes(position) ? 1 : 0))
    expect(datum.weights).toEqual(Float32Array.from(weights, on => (on ? 0.5 / level : 0)))
    expect(long.map((token, position) => (masked.includes(position) ? maskToken : token))).toEqual(datum.input.tokens)
  }
})

test('counted: as many rows as tokens mask each number of tokens once, and each row weighs the same', () => {
  const data = maskedData(Array(12).fill(long), options({ masking: 'counted' }))
  const counts = data.map(datum => maskedPositions(datum).length)
  expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
  expect(counts).not.toEqual(counts.toSorted((a, b) => a - b))
  for (const { weights } of data) expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(12, 4)
})

test('independent: the levels of a batch lie evenly in their range, whatever the order of the rows', () => {
  const rows = 50
  const sequence = new Int32Array(200)
  const data = maskedData(Array(rows).fill(sequence), options({ levels: [0.5, 0.9] }))
  const levels = data.map(({ weights }) => 1 / weights.find(weight => weight > 0)!)
  const strata = levels.map(level => Math.ceil(((level - 0.5) / 0.4) * rows - 1e-3))
  expect(strata.toSorted((a, b) => a - b)).toEqual(Array.from({ length: rows }, (_, index) => index + 1))
  expect(strata).not.toEqual(strata.toSorted((a, b) => a - b))
  for (const [row, datum] of data.entries())
    expect(Math.abs(maskedPositions(datum).length / 200 - levels[row]!)).toBeLessThan(5 * Math.sqrt(0.25 / 200))
})

test('the same random numbers give the same data', () => {
  expect(maskedData([long, text], options())).toEqual(maskedData([long, text], options()))
  expect(maskedData([long, text], options())).not.toEqual(
    maskedData([long, text], options({ random: seededRandom(2) })),
  )
})

test.each([
  [() => maskedData([text, Int32Array.of(1, 3)], options()), 'sequence 1 has the mask token, 3, at position 1'],
  [() => maskedData([new Int32Array(0)], options()), 'sequence 0 is empty'],
  [
    () => maskedData([text], options({ levels: [0, 1] })),
    'levels are 0 to 1: expected a range within 0 (not included) and 1',
  ],
  [() => maskedBlockData([text], 0, options()), 'blockSize is 0: expected a positive whole number'],
])('what cannot be is refused with a sentence (%#)', (make, sentence) => {
  expect(make).toThrow(sentence)
})

describe('a real model', () => {
  const configuration: DecoderOptions = {
    vocabulary: 4,
    contextLength: 6,
    depth: 1,
    width: 16,
    heads: 2,
    activation: 'gelu',
    attention: 'bidirectional',
  }
  const engine = createEmbeddedEngine()
  afterAll(() => engine.dispose())

  test('learns what depends on what: its exact likelihood comes near the entropy', async () => {
    // The last token is the first again.
    const texts = allTexts(3, 2).map(([a, b]) => Int32Array.of(a!, b!, a!))
    const trainer = await engine.createTrainer({ model: decoder(configuration), seed: 1 })
    const denoiser = denoiserOf(trainer, maskToken)
    const nats = async () =>
      -(await duelLogLikelihoods(denoiser, texts, mostConfident())).reduce((a, b) => a + b, 0) / 9
    const random = seededRandom(1)
    expect(await nats()).toBeGreaterThan(3)
    for (let step = 0; step < 150; step++) {
      const data = maskedData([...texts, ...texts], { maskToken, random, masking: 'counted', weight: 1 / 54 })
      await trainer.forwardBackward(data, { kind: 'cross_entropy' })
      await trainer.optimStep({ groups: [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.02 }] })
    }
    expect(await nats()).toBeGreaterThan(2 * Math.log(3) - 1e-4)
    expect(await nats()).toBeLessThan(2 * Math.log(3) + 0.1)
  })

  test('block data show each block, noisy, after the clean ones before it', async () => {
    const blockSize = 2
    const training = await engine.createTrainer({
      model: decoder({ ...configuration, contextLength: 12, attention: 'block-diffusion', attentionBlock: blockSize }),
    })
    const sampling = await engine.createTrainer({
      model: decoder({ ...configuration, attention: 'block-causal', attentionBlock: blockSize }),
      values: await training.values(),
    })
    const texts = [Int32Array.of(0, 1, 2, 2, 1), Int32Array.of(2, 2, 0, 1, 0)]
    const data = maskedBlockData(texts, blockSize, { maskToken, random: seededRandom(3), masking: 'counted' })
    const { logProbabilities } = await training.forward(data, { kind: 'cross_entropy' })
    const denoiser = denoiserOf(sampling, maskToken)
    for (const [row, text] of texts.entries()) {
      const noisy = data[row]!.input.tokens.filter((_, index) => index % 2 === 0)
      expect(data[row]!.input.tokens.filter((_, index) => index % 2 === 1)).toEqual(text)
      for (let start = 0; start < text.length; start += blockSize) {
        const seen = Int32Array.of(...text.subarray(0, start), ...noisy.subarray(start, start + blockSize))
        const [distributions] = await denoiser.distributions([seen])
        expect(seen.subarray(start)).toContain(maskToken)
        for (let position = start; position < seen.length; position++) {
          const expected = distributions![position * 4 + text[position]!]!
          expect(logProbabilities[row]![2 * position]).toBeCloseTo(expected, 5)
          expect(data[row]!.weights[2 * position]! > 0).toBe(seen[position] === maskToken)
          expect(data[row]!.weights[2 * position + 1]).toBe(0)
        }
      }
    }
  })
})
