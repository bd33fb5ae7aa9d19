import { expect, test } from 'vitest'
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
