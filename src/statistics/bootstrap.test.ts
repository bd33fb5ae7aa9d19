import { expect, test } from 'vitest'
import { blockResamples, bootstrapProbability, combine, type Estimate, intervalOf, meanEstimate } from './bootstrap.ts'
import { seededRandom } from './random.ts'

/** The mean of the values, each in a block of its own unless told otherwise. */
function meanOf(
  values: readonly number[],
  seed: number,
  count = 2000,
  blockOf: readonly number[] = [...values.keys()],
) {
  const mean = (times: ArrayLike<number>): number => {
    let [sum, drawn] = [0, 0]
    for (const [index, value] of values.entries()) {
      sum += times[index]! * value
      drawn += times[index]!
    }
    return sum / drawn
  }
  const value = mean(values.map(() => 1))
  return { value, resampled: blockResamples(blockOf, count, seededRandom(seed)).map(mean) } satisfies Estimate
}

test('the same seed gives the same interval, another seed another', () => {
  const interval = (seed: number) => intervalOf(meanOf([3, 1, 4, 1, 5, 9, 2, 6], seed))
  expect(interval(1)).toEqual(interval(1))
  expect(interval(2)).not.toEqual(interval(1))
  expect(interval(1).low).toBeLessThan(3.875)
  expect(interval(1).high).toBeGreaterThan(3.875)
})

test('of a share it is the binomial distribution', () => {
  // 100 draws from 30 ones in 100: quantiles 0.025 and 0.975 of Binomial(100, 0.3) are 21 and 39.
  const ones = Array.from({ length: 100 }, (_, index) => (index < 30 ? 1 : 0))
  const { low, high } = intervalOf(meanOf(ones, 5, 20_000))
  expect(low).toBeGreaterThanOrEqual(0.2)
  expect(low).toBeLessThanOrEqual(0.22)
  expect(high).toBeGreaterThanOrEqual(0.38)
  expect(high).toBeLessThanOrEqual(0.4)
})

test('it covers the true mean about as often as it says', () => {
  const random = seededRandom('coverage')
  let covered = 0
  for (let trial = 0; trial < 400; trial++) {
    const values = Array.from({ length: 40 }, () => random.normal())
    const { low, high } = intervalOf(meanOf(values, trial, 300))
    if (low <= 0 && high >= 0) covered++
  }
  // Standard error 0.011; percentile intervals of 40 values are a little short.
  expect(covered / 400).toBeGreaterThan(0.89)
  expect(covered / 400).toBeLessThan(0.99)
})

test('blocks are drawn whole, and copies of one item add no certainty', () => {
  const blockOf = ['a', 'a', 'b', 'c', 'c', 'c']
  for (const times of blockResamples(blockOf, 100, seededRandom(1))) {
    expect(times[0]).toBe(times[1])
    expect([times[4], times[5]]).toEqual([times[3], times[3]])
    expect(times[0]! + times[2]! + times[3]!).toBe(3)
  }
  const values = [3, 1, 4, 1, 5, 9, 2, 6]
  const tenfold = Array.from({ length: 80 }, (_, index) => values[index % 8]!)
  const width = (estimate: Estimate) => intervalOf(estimate).high - intervalOf(estimate).low
  const once = width(meanOf(values, 1))
  const asItems = width(meanOf(tenfold, 1))
  const asBlocks = width(
    meanOf(
      tenfold,
      1,
      2000,
      tenfold.map((_, index) => index % 8),
    ),
  )
  expect(asItems).toBeLessThan(0.5 * once)
  expect(asBlocks).toBeGreaterThan(0.9 * once)
})

test('what is combined is paired; a mean is over what is defined', () => {
  const one = { value: 1, resampled: [1, 2, 3] }
  const other = { value: 3, resampled: [4, Number.NaN, 6] }
  expect(combine([one, one], (a, b) => a! - b!)).toEqual({ value: 0, resampled: [0, 0, 0] })
  expect(combine([other, one], (a, b) => a! - b!)).toEqual({ value: 2, resampled: [3, Number.NaN, 3] })
  expect(meanEstimate([one, other])).toEqual({ value: 2, resampled: [2.5, 2, 4.5] })
})

test('p is as often small as it says where there is nothing, of few blocks too, and small enough for many tests where there is', () => {
  const random = seededRandom('p')
  const found = Array.from({ length: 400 }, (_, trial) => {
    const values = Array.from({ length: 10 }, () => random.normal())
    return bootstrapProbability(meanOf(values, trial, 200), 10)
  })
  // Binomial(400, 0.05): 20, with a standard deviation of 4.4.
  expect(found.filter(p => p <= 0.05).length).toBeGreaterThan(6)
  expect(found.filter(p => p <= 0.05).length).toBeLessThan(34)
  const clear = meanOf(
    Array.from({ length: 40 }, () => 1 + random.normal()),
    1,
    300,
  )
  // The share of 300 resamples on one side would be 2 / 301 at least.
  expect(bootstrapProbability(clear, 40)).toBeLessThan(0.05 / 15)
  expect(bootstrapProbability({ value: 1, resampled: [1, 1, 1] }, 6)).toBe(2 / 2 ** 6)
  expect(bootstrapProbability({ value: 0, resampled: [0, 0, 0] }, 6)).toBe(1)
  expect(bootstrapProbability({ value: 1, resampled: [] }, 2)).toBe(1)
})

test('resamples without a value are left out', () => {
  const none = Number.NaN
  expect(intervalOf({ value: 1, resampled: [none, 2, 2] })).toEqual({ low: 2, high: 2 })
  expect(intervalOf({ value: 1, resampled: [none, none] })).toEqual({ low: Number.NaN, high: Number.NaN })
})

test('wrong arguments', () => {
  expect(() => blockResamples([1], 0.5, seededRandom(1))).toThrow('count is 0.5')
  expect(() => blockResamples([], 1, seededRandom(1))).toThrow('there are no items')
})
