/**
 * Records in two halves at random: one is the history, the other is tested, and the other way round.
 */
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { Random } from '../statistics/random.ts'

/** Each in the order of the records; the first has the smaller half where they are odd. */
export type Halves = readonly [readonly ExperimentRecord[], readonly ExperimentRecord[]]

/** Another value of a candidate's own idea may be in the other half, as it would be in use. */
export function randomHalves(records: readonly ExperimentRecord[], random: Random): Halves {
  return halvesBy(records, new Set(random.sample(records, Math.floor(records.length / 2))))
}

/** Whole near-duplicate groups: in random order, each goes to the first half as long as there is room. */
export function ideaHalves(records: readonly ExperimentRecord[], random: Random): Halves {
  const groups = nearDuplicateGroups(records)
  const byGroup = [...Map.groupBy(records, (_, index) => groups[index]!).values()]
  const half = new Set<ExperimentRecord>()
  for (const group of random.shuffle(byGroup)) {
    if (half.size + group.length <= records.length / 2) for (const record of group) half.add(record)
  }
  return halvesBy(records, half)
}

function halvesBy(records: readonly ExperimentRecord[], half: ReadonlySet<ExperimentRecord>): Halves {
  return [records.filter(record => half.has(record)), records.filter(record => !half.has(record))]
}
