/**
 * What a candidate tries that was tried before and did not help: narrower than near-duplicates, which take all values of
 * an option together. That a rate of 3 was worse says something about 10 and nothing about 0.1.
 */
import type { Environment } from '../experiment/environment.ts'
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import { type Likeness, likenessOf, traitsOf } from './same-idea.ts'

const nearness: readonly Likeness[] = ['as far', 'in words', 'less far']

export interface Precedent {
  readonly record: ExperimentRecord
  readonly likeness: Likeness
  /**
   * Whether it answers the question: measured against this reference, with the verdict `worse` or `failed`, the candidate
   * going at least as far, and nothing that contradicts it. Otherwise something differs, and the user may know what it is worth.
   */
  readonly settles: boolean
}

/**
 * The records that speak against each candidate, those that settle it first, then the nearest and newest: failed or worse, or with
 * a gain below zero that was not measured often enough for a verdict.
 *
 * A record settles nothing when the candidate's diff may mend its crash, or when a record between the two did help: then
 * the way from one to the other is not downhill all along.
 */
export function precedents(
  candidates: readonly Candidate[],
  records: readonly ExperimentRecord[],
  environment: Environment,
): Precedent[][] {
  const known = records.filter(({ outcome, verdict }) => outcome !== null && verdict !== null).map(traitsOf)
  return candidates.map(candidate => {
    const own = traitsOf(candidate)
    const related = known.flatMap(each => {
      const likeness = likenessOf(own, each)
      return likeness === null ? [] : [{ ...each, likeness }]
    })
    const helped = related.filter(({ it, likeness }) => likeness === 'as far' && helps(it) && isCurrent(it))
    return related
      .filter(({ it }) => isBad(it))
      .map(({ it, likeness, ...traits }): Precedent => {
        const contradicted = helped.some(other => likenessOf(other, { it, ...traits }) === 'as far')
        const judged = it.verdict === 'worse' || it.verdict === 'failed'
        const settles = likeness === 'as far' && judged && isCurrent(it) && !mayMend(candidate, it) && !contradicted
        return { record: it, likeness, settles }
      })
      .sort(
        (a, b) =>
          Number(b.settles) - Number(a.settles) ||
          nearness.indexOf(a.likeness) - nearness.indexOf(b.likeness) ||
          b.record.id - a.record.id,
      )
  })

  function isCurrent(record: ExperimentRecord): boolean {
    return record.environment.version.id === environment.version.id
  }
}

function isBad({ verdict, measured }: ExperimentRecord): boolean {
  return verdict === 'failed' || verdict === 'worse' || (verdict === 'inconclusive' && (measured?.gain ?? 0) < 0)
}

function helps({ verdict, measured }: ExperimentRecord): boolean {
  return verdict === 'better' || (verdict === 'inconclusive' && measured !== null && measured.gain >= 0)
}

/** Code that crashed may have had a mistake that another diff does not have; a configuration has none to mend. */
function mayMend({ intervention }: Candidate, { outcome, intervention: before }: ExperimentRecord): boolean {
  return outcome === 'crashed' && intervention.diff !== null && intervention.diff !== before.diff
}
