import { expect, test } from 'vitest'
import { blockBootstrapInterval, bootstrapInterval } from './bootstrap.ts'
import { seededRandom } from './random.ts'
import { mean } from './summary.ts'

const meanOf = (values: readonly number[]) => (indices: Int32Array) =>
  mean(Array.from(indices, index => values[index]!))

test('the same seed gives the same interval, another seed another', () => {
  const statistic = meanOf([3, 1, 4, 1, 5, 9, 2, 6])
  const interval = bootstrapInterval(8, statistic, { seed: 1 })
  expect(bootstrapInterval(8, statistic, { seed: 1 })).toEqual(interval)
  expect(bootstrapInterval(8, statistic, { seed: 2 })).not.toEqual(interval)
  expect(interval.low).toBeLessThan(3.875)
  expect(interval.high).toBeGreaterThan(3.875)
})

test('of a share it is the binomial distribution', () => {
  // 100 draws from 30 ones in 100: quantiles 0.025 and 0.975 of Binomial(100, 0.3) are 21 and 39.
  const ones = Array.from({ length: 100 }, (_, index) => (index < 30 ? 1 : 0))
  const { low, high } = bootstrapInterval(100, meanOf(ones), { seed: 5, replicates: 20_000 })
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
    const { low, high } = bootstrapInterval(40, meanOf(values), { seed: trial, replicates: 300, level: 0.9 })
    if (low <= 0 && high >= 0) covered++
  }
  // Standard error 0.015; percentile intervals of 40 values are a little short.
  expect(covered / 400).toBeGreaterThan(0.82)
  expect(covered / 400).toBeLessThan(0.95)
})

test('blocks are drawn whole, and copies of one item add no certainty', () => {
  const blockOf = ['a', 'a', 'b', 'c', 'c', 'c']
  blockBootstrapInterval(
    blockOf,
    indices => {
      const counts = [0, 1, 2, 3, 4, 5].map(item => indices.filter(index => index === item).length)
      expect(counts[0]).toBe(counts[1])
      expect([counts[4], counts[5]]).toEqual([counts[3], counts[3]])
      expect(counts[0]! + counts[2]! + counts[3]!).toBe(3)
      return 0
    },
    { seed: 1, replicates: 100 },
  )
  const values = [3, 1, 4, 1, 5, 9, 2, 6]
  const tenfold = Array.from({ length: 80 }, (_, index) => values[index % 8]!)
  const width = ({ low, high }: { low: number; high: number }) => high - low
  const once = width(bootstrapInterval(8, meanOf(values), { seed: 1 }))
  const asItems = width(bootstrapInterval(80, meanOf(tenfold), { seed: 1 }))
  const asBlocks = width(
    blockBootstrapInterval(
      tenfold.map((_, index) => index % 8),
      meanOf(tenfold),
      { seed: 1 },
    ),
  )
  expect(asItems).toBeLessThan(0.5 * once)
  expect(asBlocks).toBeGreaterThan(0.9 * once)
})

test('replicates without a value are left out', () => {
  const sometimes = (indices: Int32Array) => (indices[0] === 0 ? Number.NaN : 2)
  expect(bootstrapInterval(3, sometimes, { seed: 1 })).toEqual({ low: 2, high: 2 })
  expect(bootstrapInterval(3, () => Number.NaN, { seed: 1 })).toEqual({ low: Number.NaN, high: Number.NaN })
})

test('wrong arguments', () => {
  expect(() => bootstrapInterval(0, () => 0, { seed: 1 })).toThrow('n is 0')
  expect(() => bootstrapInterval(2, () => 0, { seed: 1, level: 1 })).toThrow('level is 1')
  expect(() => bootstrapInterval(2, () => 0, { seed: 1, replicates: 0.5 })).toThrow('replicates is 0.5')
  expect(() => blockBootstrapInterval([], () => 0, { seed: 1 })).toThrow('there are no items')
})
