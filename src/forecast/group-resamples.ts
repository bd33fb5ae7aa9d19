/**
 * Bootstrap resamples of records. What is drawn again is a near-duplicate group, over all environments at once: values of
 * one card rise and fall together, in one recipe and from recipe to recipe, and so do the errors of their forecasts; runs and
 * pools are not independent at all. Forecasts are not made again, so an interval says how the result depends on which ideas
 * were tested, not on which were in the history.
 */
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { blockResamples } from '../statistics/bootstrap.ts'
import { seededRandom } from '../statistics/random.ts'

/** How often one resample drew a record. */
export type Drawn = (record: ExperimentRecord) => number

/** A resample throws for a record that is not among `records`. `groups`: of each record, for whoever needs them as well. */
export function groupResamples(
  records: readonly ExperimentRecord[],
  count: number,
  seed: number,
  groups: readonly (number | string)[] = nearDuplicateGroups(records),
): Drawn[] {
  const indexOf = new Map(records.map(({ id }, index) => [id, index]))
  const random = seededRandom(seed).fork('resamples')
  return blockResamples(groups, count, random).map(times => ({ id }) => {
    const index = indexOf.get(id)
    if (index === undefined) throw new Error(`groupResamples: record ${id} is not among those that are drawn again`)
    return times[index]!
  })
}
