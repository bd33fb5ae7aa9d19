/**
 * Which records a forecast conditions on when there are more than it can afford: those of the same version first, then
 * of the same family, then others; among equals, those that change what a candidate changes in words alike.
 */
import type { Environment } from '../experiment/environment.ts'
import { optionName } from '../experiment/option-name.ts'
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import { cosinesWith } from '../statistics/cosines.ts'
import { fitTfIdf } from '../text/tfidf.ts'
import { interventionWords } from './intervention-text.ts'

/** In the order of their ids, whatever the order of the history: sums of them are then equal to the last bit. */
export function inOrder(records: readonly ExperimentRecord[]): ExperimentRecord[] {
  return [...records].sort((first, second) => first.id - second.id)
}

/** At most `limit` of the records, in the order of their ids. */
export function relevantRecords(
  environment: Environment,
  records: readonly ExperimentRecord[],
  candidates: readonly Candidate[],
  limit: number,
): ExperimentRecord[] {
  if (records.length <= limit) return inOrder(records)
  const relevance = relevanceTo(environment, candidates)
  return inOrder(
    inOrder(records)
      .map(record => ({ record, score: relevance(record) }))
      .sort((first, second) => second.score - first.score)
      .slice(0, limit)
      .map(({ record }) => record),
  )
}

/**
 * How much a record may tell of the candidate it is most like: 20 for the same version or 10 for the same family, and up
 * to 2 for words and changed options alike.
 */
export function relevanceTo(
  environment: Environment,
  candidates: readonly Candidate[],
): (record: ExperimentRecord) => number {
  const asked = candidates.map(interventionWords)
  // The words of the candidates are all that can be alike: fitting to them alone keeps a long history cheap.
  const model = fitTfIdf(asked, { bigrams: false })
  const cosinesOf = cosinesWith(asked.map(model.transform), model.size)
  const names = candidates.map(({ changes }) => new Set(changes.map(({ option }) => optionName(option))))
  return record => {
    const cosines = cosinesOf(model.transform(interventionWords(record)))
    const changed = record.changes.map(({ option }) => optionName(option))
    let best = 0
    candidates.forEach((_, index) => {
      const shared = changed.filter(name => names[index]!.has(name)).length
      const alike = cosines[index]! + shared / Math.max(1, changed.length)
      best = Math.max(best, alike)
    })
    return best + 10 * closeness(environment, record.environment)
  }
}

function closeness(target: Environment, other: Environment): number {
  if (other.familyId !== target.familyId) return 0
  return other.version.id === target.version.id ? 2 : 1
}
