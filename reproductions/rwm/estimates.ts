/**
 * Numbers with bootstrap intervals. What is drawn again is a near-duplicate group, over all environments at once: values of
 * one card rise and fall together, in one recipe and from recipe to recipe, and so do the errors of their forecasts; runs and
 * pools are not independent at all. Forecasts are not made again, so an interval says how the result depends on which ideas
 * were tested, not on which were in the history. Every estimate uses the same resamples, so differences are paired.
 */
import { nearDuplicateGroups } from '../../src/experiment/near-duplicates.ts'
import type { ExperimentRecord } from '../../src/experiment/record.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import { quantile } from '../../src/statistics/summary.ts'

/** How often one resample drew a record. */
export type Drawn = (record: ExperimentRecord) => number

export function groupResamples(records: readonly ExperimentRecord[], count: number, seed: number): Drawn[] {
  const groups = nearDuplicateGroups(records)
  const groupOf = new Map(records.map(({ id }, index) => [id, groups[index]!]))
  const size = Math.max(...groups) + 1
  const random = seededRandom(seed).fork('resamples')
  return Array.from({ length: count }, () => {
    const times = new Int32Array(size)
    for (let draw = 0; draw < size; draw++) times[random.integer(size)]!++
    return ({ id }) => times[groupOf.get(id)!]!
  })
}

/** A number, and the same number in every resample; NaN where it is not defined. */
export interface Estimate {
  readonly value: number
  readonly resampled: readonly number[]
}

export function combine(estimates: readonly Estimate[], combination: (...values: number[]) => number): Estimate {
  return {
    value: combination(...estimates.map(({ value }) => value)),
    resampled: estimates[0]!.resampled.map((_, index) =>
      combination(...estimates.map(({ resampled }) => resampled[index]!)),
    ),
  }
}

/** The 95 % percentile interval, over the resamples in which the number is defined. */
export function intervalOf({ resampled }: Estimate): { readonly low: number; readonly high: number } {
  const defined = resampled.filter(value => !Number.isNaN(value))
  if (defined.length === 0) return { low: Number.NaN, high: Number.NaN }
  return { low: quantile(defined, 0.025), high: quantile(defined, 0.975) }
}
