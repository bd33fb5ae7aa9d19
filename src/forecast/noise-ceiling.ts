/**
 * What a perfect forecast could reach: seeds of one intervention differ, so not even the truth ranks measured gains
 * perfectly.
 */
import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { byOrigin, evidenceOf, finishedValues } from '../experiment/records.ts'
import type { Estimate } from '../statistics/bootstrap.ts'
import { spearman } from '../statistics/ranks.ts'
import { median } from '../statistics/summary.ts'
import type { Drawn } from './group-resamples.ts'

/**
 * Rank correlation of the gain by the first finished seed with that by the second, over records that have both; NaN with fewer than
 * three. Gains, so that records against different references can be ranked together.
 */
export function noiseCeiling(records: readonly ExperimentRecord[], resamples: readonly Drawn[]): Estimate {
  const pairs = records.flatMap(record => {
    const pair = seedGains(record)
    return pair === null ? [] : [{ record, pair }]
  })
  const correlation = (drawn: Drawn): number => {
    const chosen = pairs.flatMap(({ record, pair }) => Array<readonly [number, number]>(drawn(record)).fill(pair))
    if (chosen.length < 3) return Number.NaN
    return (
      spearman(
        chosen.map(([first]) => first),
        chosen.map(([, second]) => second),
      ) ?? Number.NaN
    )
  }
  return { value: correlation(() => 1), resampled: resamples.map(correlation) }
}

/** Runs of our own, or where there are none, those that a log brought: whatever the gain was measured by. */
function seedGains({ runs, environment, measured }: ExperimentRecord): readonly [number, number] | null {
  if (measured === null) return null
  const { own, imported } = byOrigin(evidenceOf(runs))
  if (own.length > 0 && imported.length > 0) return null
  const { name, direction } = objectiveOf(environment.family)
  const values = finishedValues([...own, ...imported], name)
  const [first, second] = values
  if (first === undefined || second === undefined) return null
  const sign = direction === 'minimize' ? -1 : 1
  const gainOf = (value: number) => measured.gain + sign * (value - median(values))
  return [gainOf(first), gainOf(second)]
}

/**
 * The rank correlation of the truth with gains of single runs, in expectation within pools of `size`, were gains and noise normal: from
 * Spearman's correlation of two seeds to Pearson's (Pearson 1907), by its square root to that of the truth with one of them (Spearman 1904),
 * and to rank correlations of so few (Moran 1948). Of a ceiling over a whole log it is more than what can be reached where rows of a pool
 * lie closer together. NaN where seeds do not agree at all.
 */
export function truthWithinPools(singleSeed: number, size: number): number {
  if (singleSeed < 0) return Number.NaN
  const correlation = Math.sqrt(Math.min(1, 2 * Math.sin((Math.PI * singleSeed) / 6)))
  return (6 / (Math.PI * (size + 1))) * (Math.asin(correlation) + (size - 2) * Math.asin(correlation / 2))
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
