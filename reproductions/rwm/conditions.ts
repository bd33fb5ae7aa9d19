/**
 * What a forecaster may have seen when it is tested: the conditions of the comparison, each as parts of a history and the
 * records that are tested against it.
 */
import type { ExperimentRecord } from '../../src/experiment/record.ts'
import { ideaHalves, randomHalves } from '../../src/forecast/halves.ts'
import type { Part } from '../../src/forecast/judge.ts'
import { seededRandom } from '../../src/statistics/random.ts'
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
  const halves = condition === 'random-halves' ? randomHalves : ideaHalves
  const random = seededRandom(seed).fork(condition)
  return Array.from({ length: splits }, (_, split) => {
    const [first, second] = halves(records, random.fork(split))
    return [part(first, second), part(second, first)]
  }).flat()
}

/** The half that `npm start` takes its candidates from, whatever the seed here. */
function fixedHalf(records: readonly ExperimentRecord[]) {
  const tested = new Set(seededRandom('first campaign').sample(records, Math.floor(records.length / 2)))
  return {
    history: records.filter(record => !tested.has(record)),
    tested: records.filter(record => tested.has(record)),
  }
}
