/**
 * The bootstrap (Efron 1979): resamples of whole blocks, and numbers with percentile intervals over them. Whoever computes
 * several numbers uses the same resamples for all, so that what is combined of them, a difference or a mean, is paired.
 */
import type { Random } from './random.ts'
import { studentCdf } from './student.ts'
import { meanDefined, quantile, variance } from './summary.ts'

/**
 * `count` resamples, each of as many blocks as there are, with replacement; the items of a block stay together, since they are
 * not independent. `blockOf` names the block of each item. A resample says how often each item was drawn.
 */
export function blockResamples(blockOf: readonly (number | string)[], count: number, random: Random): Int32Array[] {
  if (blockOf.length === 0) throw new Error('blockResamples: there are no items; give at least one')
  if (!Number.isInteger(count) || count < 1) {
    throw new Error(`blockResamples: count is ${count}; give a whole number from 1`)
  }
  const numbers = new Map([...new Set(blockOf)].map((block, number) => [block, number]))
  const numberOf = blockOf.map(block => numbers.get(block)!)
  return Array.from({ length: count }, () => {
    const times = new Int32Array(numbers.size)
    for (let draw = 0; draw < numbers.size; draw++) times[random.integer(numbers.size)]!++
    return Int32Array.from(numberOf, number => times[number]!)
  })
}

/** A number, and the same number in every resample; NaN where it is not defined (a correlation of a constant, say). */
export interface Estimate {
  readonly value: number
  readonly resampled: readonly number[]
}

export interface Interval {
  readonly low: number
  readonly high: number
}

/** What follows from several estimates on the same resamples; without resamples where one of them has none. */
export function combine(estimates: readonly Estimate[], combination: (...values: number[]) => number): Estimate {
  const value = combination(...estimates.map(({ value }) => value))
  if (estimates.some(({ resampled }) => resampled.length === 0)) return { value, resampled: [] }
  return {
    value,
    resampled: estimates[0]!.resampled.map((_, index) =>
      combination(...estimates.map(({ resampled }) => resampled[index]!)),
    ),
  }
}

/** The mean of those that are defined. */
export function meanEstimate(estimates: readonly Estimate[]): Estimate {
  const defined = estimates.filter(({ value }) => !Number.isNaN(value))
  if (defined.length === 0) return { value: Number.NaN, resampled: [] }
  return combine(defined, (...values) => meanDefined(values))
}

/** The 95 % percentile interval, over the resamples in which the number is defined; NaN where it is in none. */
export function intervalOf({ resampled }: Estimate): Interval {
  const defined = resampled.filter(value => !Number.isNaN(value))
  if (defined.length === 0) return { low: Number.NaN, high: Number.NaN }
  return { low: quantile(defined, 0.025), high: quantile(defined, 0.975) }
}

/**
 * Two-sided p of a number that could be 0, from so many independent blocks drawn again: Student's t of it over its bootstrap standard error.
 * Unlike a share of the resamples this knows no least value that a correction for many tests could not pass, other than that of turned signs,
 * 2 / 2^blocks. 1 where fewer than three blocks show no scatter.
 */
export function bootstrapProbability({ value, resampled }: Estimate, blocks: number): number {
  const defined = resampled.filter(each => !Number.isNaN(each))
  if (value === 0 || blocks < 3 || defined.length < 2) return 1
  // The variance of resampled means is (n - 1) / n of that of the mean.
  const error = Math.sqrt((variance(defined) * blocks) / (blocks - 1))
  const least = 2 ** (1 - blocks)
  return error === 0 ? least : Math.max(least, 2 * studentCdf(-Math.abs(value) / error, blocks - 1))
}
