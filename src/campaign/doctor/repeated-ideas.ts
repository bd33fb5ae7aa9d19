/**
 * Ideas that a history holds more than once, and those tried again although something like them had failed. Repeats with other seeds
 * are runs of one record and no repeated idea.
 */
import type { ExperimentRecord } from '../../experiment/record.ts'
import { ideaGroups } from '../same-idea.ts'
import { type Precedent, precedents } from '../tried-before.ts'

/** The same options, or the same things in words, with other values; the first first. */
export type IdeaGroup = readonly ExperimentRecord[]

export interface TriedAgain {
  readonly record: ExperimentRecord
  /** What had failed or was worse before, the nearest and newest. */
  readonly after: Precedent
}

export interface RepeatedIdeas {
  /** Of two records and more, the largest first. */
  readonly groups: readonly IdeaGroup[]
  readonly again: readonly TriedAgain[]
}

export function repeatedIdeas(records: readonly ExperimentRecord[]): RepeatedIdeas {
  const ordered = records.toSorted((first, second) => first.id - second.id)
  const groups = ideaGroups(ordered).filter(group => group.length > 1)
  const again = groups.flatMap(group =>
    group.flatMap((record, index) => {
      const [found] = precedents([record], group.slice(0, index), record.environment)
      const after = found!.find(({ likeness }) => likeness !== 'less far')
      return after === undefined ? [] : [{ record, after }]
    }),
  )
  return {
    groups: groups.sort((first, second) => second.length - first.length),
    again: again.sort((first, second) => first.record.id - second.record.id),
  }
}
