/** Gains that were kept, and how many of them are no larger than what noise brings. */
import type { ExperimentRecord } from '../../experiment/record.ts'
import { normalCdf } from '../../statistics/normal.ts'

export interface KeptGain {
  readonly record: ExperimentRecord
  readonly gain: number
  /** Of a true gain above zero; null where nothing is known of the noise. */
  readonly probabilityBetter: number | null
}

/** What is kept is meant to be better with at least this probability, as the verdict `better` asks. */
export const sureEnough = 0.95

/**
 * Records that became a reference, in time order.
 *
 * @param promoted ids of the records that versions were made from
 * @param noise standard deviation of one run, where the user knows it and the history does not: a gain is then the difference of two
 */
export function keptGains(
  records: readonly ExperimentRecord[],
  promoted: ReadonlySet<number>,
  noise: number | null,
): KeptGain[] {
  return records.flatMap(record => {
    if (!promoted.has(record.id) || record.measured === null) return []
    const { gain, probabilityBetter } = record.measured
    const told = noise === null ? null : noise === 0 ? Number(gain > 0) : normalCdf(gain / (noise * Math.SQRT2))
    return [{ record, gain, probabilityBetter: probabilityBetter ?? told }]
  })
}
