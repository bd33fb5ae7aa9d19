/**
 * What a perfect forecast could reach: seeds of one intervention differ, so not even the truth ranks measured gains
 * perfectly.
 */
import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { evidenceOf, finishedValues } from '../experiment/records.ts'
import type { Estimate } from '../statistics/bootstrap.ts'
import { spearman } from '../statistics/ranks.ts'
import type { Drawn } from './group-resamples.ts'

/** Rank correlation of the first finished seed's metric with the second's over interventions; NaN with fewer than three. */
export function noiseCeiling(records: readonly ExperimentRecord[], resamples: readonly Drawn[]): Estimate {
  return {
    value: seedCorrelation(records, () => 1),
    resampled: resamples.map(drawn => seedCorrelation(records, drawn)),
  }
}

function seedCorrelation(records: readonly ExperimentRecord[], drawn: Drawn): number {
  const pairs = records.flatMap(record => {
    const [first, second] = finishedValues(evidenceOf(record.runs), objectiveOf(record.environment.family).name)
    return first === undefined || second === undefined ? [] : Array(drawn(record)).fill([first, second] as const)
  })
  if (pairs.length < 3) return Number.NaN
  return (
    spearman(
      pairs.map(([first]) => first),
      pairs.map(([, second]) => second),
    ) ?? Number.NaN
  )
}

/** Spearman (1910) and Brown (1910): the correlation of two measurements that are each the mean of two seeds, from that of two single seeds. */
export function twoSeedReliability(singleSeed: number): number {
  return (2 * singleSeed) / (1 + singleSeed)
}

/**
 * The correlation of the truth with the two-seed median (of two, the mean): the square root of its reliability. Exact for
 * correlations of values, an approximation for ranks. NaN where seeds do not agree at all.
 */
export function perfectForecastCorrelation(singleSeed: number): number {
  return singleSeed < 0 ? Number.NaN : Math.sqrt(twoSeedReliability(singleSeed))
}
