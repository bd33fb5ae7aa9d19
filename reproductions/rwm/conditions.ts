/**
 * What a forecaster may have seen when it is tested: the conditions of the comparison, each as parts of a history and the
 * records that are tested against it.
 */
import type { Environment } from '../../src/experiment/environment.ts'
import { nearDuplicateGroups } from '../../src/experiment/near-duplicates.ts'
import type { ExperimentRecord } from '../../src/experiment/record.ts'
import { type Random, seededRandom } from '../../src/statistics/random.ts'
import type { EnvironmentRecords } from './environment-records.ts'

export const conditions = ['none', 'fixed-half', 'random-halves', 'other-ideas', 'cross-environment'] as const
export type Condition = (typeof conditions)[number]

export const conditionTitles: Readonly<Record<Condition, string>> = {
  none: 'no history (W₀)',
  'fixed-half': 'in-environment, fixed half',
  'random-halves': 'in-environment, random halves',
  'other-ideas': 'in-environment, other ideas only',
  'cross-environment': 'cross-environment',
}

/** One history with the records that are forecast from it; `guarded`: nothing of a candidate's near-duplicate group may be used. */
export interface Part {
  readonly environment: Environment
  readonly history: readonly ExperimentRecord[]
  readonly tested: readonly ExperimentRecord[]
  readonly guarded: boolean
}

/** `splits` random halves, each half once the history of the other. */
export function partsOf(
  condition: Condition,
  own: EnvironmentRecords,
  others: readonly EnvironmentRecords[],
  { splits, seed }: { readonly splits: number; readonly seed: number },
): Part[] {
  const { environment, records } = own
  const part = (history: readonly ExperimentRecord[], tested: readonly ExperimentRecord[], guarded = false): Part => ({
    environment,
    history,
    tested,
    guarded,
  })
  if (condition === 'none') return [part([], records)]
  if (condition === 'cross-environment')
    return [
      part(
        others.flatMap(other => other.records),
        records,
        true,
      ),
    ]
  if (condition === 'fixed-half') {
    const { history, tested } = fixedHalf(records)
    return [part(history, tested)]
  }
  const random = seededRandom(seed).fork(condition)
  return Array.from({ length: splits }, (_, split) => {
    const first =
      condition === 'random-halves' ? randomHalf(records, random.fork(split)) : ideaHalf(records, random.fork(split))
    const inside = records.filter(record => first.has(record))
    const outside = records.filter(record => !first.has(record))
    return [part(inside, outside), part(outside, inside)]
  }).flat()
}

/** The half that `npm start` takes its candidates from, whatever the seed here. */
export function fixedHalf(records: readonly ExperimentRecord[]) {
  const tested = new Set(seededRandom('first campaign').sample(records, Math.floor(records.length / 2)))
  return {
    history: records.filter(record => !tested.has(record)),
    tested: records.filter(record => tested.has(record)),
  }
}

function randomHalf(records: readonly ExperimentRecord[], random: Random): Set<ExperimentRecord> {
  return new Set(random.sample(records, Math.floor(records.length / 2)))
}

/** Whole near-duplicate groups, in random order, up to half of the records. */
function ideaHalf(records: readonly ExperimentRecord[], random: Random): Set<ExperimentRecord> {
  const groups = nearDuplicateGroups(records)
  const byGroup = [...Map.groupBy(records, (_, index) => groups[index]!).values()]
  const half = new Set<ExperimentRecord>()
  for (const group of random.shuffle(byGroup)) {
    if (half.size + group.length <= records.length / 2) for (const record of group) half.add(record)
  }
  return half
}
