/**
 * The leak guard of an evaluation across environments: when a candidate is tested, nothing of its near-duplicate group
 * may be in the history. Live forecasts need no guard: they may use all that was known before.
 */
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import type { Forecaster } from './forecaster.ts'

/** The records that belong to no candidate's group. */
export function withoutNearDuplicates(
  history: readonly ExperimentRecord[],
  candidates: readonly Candidate[],
): ExperimentRecord[] {
  const groups = nearDuplicateGroups([...history, ...candidates])
  const tested = new Set(groups.slice(history.length))
  return history.filter((_, index) => !tested.has(groups[index]!))
}

/**
 * The same forecaster with every candidate guarded for itself: candidates of one group are asked together, with the
 * history that has nothing of that group. (One history for all candidates would lose what they share with each other.)
 */
export function guarded<Answer>(forecaster: Forecaster<Answer>): Forecaster<Answer> {
  return async (environment, history, candidates, options) => {
    const groups = nearDuplicateGroups([...history, ...candidates])
    const groupOf = (candidate: number) => groups[history.length + candidate]!
    const byGroup = Map.groupBy(candidates.keys(), groupOf)
    const forecasts = new Map<number, Answer>()
    for (const [group, members] of byGroup) {
      const allowed = history.filter((_, index) => groups[index] !== group)
      const asked = members.map(member => candidates[member]!)
      const answers = await forecaster(environment, allowed, asked, options)
      for (const [index, member] of members.entries()) forecasts.set(member, answers[index]!)
    }
    return candidates.map((_, index) => forecasts.get(index)!)
  }
}
