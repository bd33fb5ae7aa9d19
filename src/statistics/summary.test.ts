import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mean, median, quantile, variance } from './summary.ts'

const { summaries } = JSON.parse(readFileSync(new URL('fixtures/statistics.json', import.meta.url), 'utf8')) as {
  summaries: {
    values: number[]
    mean: number
    median: number
    variance: number | null
    quantiles: [number, number][]
  }[]
}

test.each(summaries)('NumPy and SciPy give the same of $values', expected => {
  expect(mean(expected.values)).toBeCloseTo(expected.mean, 12)
  expect(median(expected.values)).toBeCloseTo(expected.median, 12)
  if (expected.variance === null) expect(() => variance(expected.values)).toThrow('variance: needs at least 2 values')
  else expect(variance(expected.values)).toBeCloseTo(expected.variance, 12)
  for (const [p, value] of expected.quantiles) expect(quantile(expected.values, p)).toBeCloseTo(value, 12)
})

const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 20 })
const share = fc.double({ min: 0, max: 1, noNaN: true })

test('quantiles never decrease, stay within the values, and do not depend on their order', () => {
  fc.assert(
    fc.property(numbers, share, share, (values, p, q) => {
      const [low, high] = [quantile(values, Math.min(p, q)), quantile(values, Math.max(p, q))]
      expect(low).toBeLessThanOrEqual(high)
      expect(low).toBeGreaterThanOrEqual(Math.min(...values))
      expect(high).toBeLessThanOrEqual(Math.max(...values))
      expect(quantile(values.toReversed(), p)).toBe(quantile(values, p))
    }),
  )
})

test('equal values have themselves as mean and no variance, to the last bit', () => {
  fc.assert(
    fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer({ min: 2, max: 40 }), (value, n) => {
      const equal = new Array<number>(n).fill(value)
      expect(mean(equal) === value).toBe(true)
      expect(variance(equal)).toBe(0)
    }),
  )
})

test('arguments are left as they are; NaN gives NaN; an empty list is refused', () => {
  const values = [3, 1, 2]
  median(values)
  expect(values).toEqual([3, 1, 2])
  for (const summary of [mean, median, variance]) {
    expect(summary([1, Number.NaN, 2])).toBeNaN()
    expect(() => summary([])).toThrow(summary.name)
  }
  expect(quantile([Number.NEGATIVE_INFINITY, 0, 1], 0.5)).toBe(0)
  expect(() => quantile([1], 1.1)).toThrow('p is 1.1; it must lie in [0, 1]')
})
