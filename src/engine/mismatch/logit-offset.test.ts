import { afterAll, expect, test } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import type { Sample } from '../sampling.ts'
import { checkLogitOffset, randomLogitOffset } from './logit-offset.ts'

test('an offset follows from its seed and has the standard deviation asked for', () => {
  const offset = randomLogitOffset(20_000, 0.5, 3)
  expect(randomLogitOffset(20_000, 0.5, 3)).toEqual(offset)
  expect(randomLogitOffset(20_000, 0.5, 4)).not.toEqual(offset)
  const mean = offset.reduce((sum, value) => sum + value, 0) / offset.length
  const variance = offset.reduce((sum, value) => sum + (value - mean) ** 2, 0) / offset.length
  // Five standard errors of a mean and of a variance of so many normal numbers.
  expect(Math.abs(mean)).toBeLessThan((5 * 0.5) / Math.sqrt(20_000))
  expect(Math.abs(variance / 0.25 - 1)).toBeLessThan(5 * Math.sqrt(2 / 20_000))
  expect(randomLogitOffset(3, 0, 1).every(value => value === 0)).toBe(true)
})

test('what cannot be is refused with a sentence', () => {
  expect(() => randomLogitOffset(4, -1, 0)).toThrow('the standard deviation is -1: expected a number from 0 on')
  expect(() => checkLogitOffset(new Float32Array(3), 4)).toThrow('there are 3 numbers for a vocabulary of 4 tokens')
  expect(() => checkLogitOffset(Float32Array.of(0, Number.POSITIVE_INFINITY), 2)).toThrow(
    'the number of token 1 is Infinity; it must be finite',
  )
})

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())

test('a snapshot with an offset scores and draws with the logits moved by it', async () => {
  const trainer = await engine.createTrainer({
    model: bigram({ vocabulary: 4, contextLength: 4, initialDeviation: 1 }),
  })
  const offset = randomLogitOffset(4, 2, 1)
  const sampler = await trainer.snapshot({ logitOffset: offset })
  const input = { tokens: Int32Array.of(2) }
  const [plain] = await (await trainer.snapshot()).distributions([{ input }])
  const moved = plain!.map((value, token) => value + offset[token]!)
  const total = Math.log(moved.reduce((sum, value) => sum + Math.exp(value), 0))
  const [scored] = await sampler.distributions([{ input }])
  for (const [token, value] of moved.entries()) expect(scored![token]).toBeCloseTo(value - total, 5)
  const [[sample]] = (await sampler.sample([{ prompt: input, maximumTokens: 1, topLogProbabilities: 4 }])) as [[Sample]]
  const { tokens, logProbabilities } = sample.topLogProbabilities!
  for (const [place, token] of tokens.entries()) expect(logProbabilities[place]).toBeCloseTo(scored![token]!, 5)
})
