/**
 * Which records are run again before they are called better. Of many candidates the luckiest look best, so what would be
 * called better has to be so with fresh seeds too, as long as luck could explain it, or could have decided which is best.
 * Pure; what is run again is counted with all its seeds, and nothing is asked twice.
 */

import { objectiveOf } from '../experiment/environment.ts'
import { varianceOfMedian } from '../experiment/gain.ts'
import type { ExperimentRecord, MeasuredGain } from '../experiment/record.ts'
import { byOrigin, evidenceOf, finishedValues } from '../experiment/records.ts'
import { studentCdf } from '../statistics/student.ts'

/** From this chance of a gain on, a repeat would not change the verdict: it is not asked for. */
const beyondDoubt = 0.999

/** Of two records one is ahead when that is as sure as a verdict has to be. */
const surelyAhead = 0.95

export interface Confirmation {
  /** Runs of a candidate before anything is asked again, and how many more it then gets. */
  readonly seeds: number
  readonly more: number
  /** Finished runs of the reference. */
  readonly referenceRuns: number
}

/**
 * The ids of the records that are due for more seeds: called better after their first seeds, and either with
 * P(gain > 0) below 0.999, or so close to the best (itself included) that which of them is ahead is not sure (P < 0.95).
 * And those that have had a part of theirs, whatever it showed: stopping as soon as it looks well would be luck again.
 */
export function awaitingConfirmation(
  records: readonly ExperimentRecord[],
  { seeds, more, referenceRuns }: Confirmation,
): Set<number> {
  const better = records.flatMap(record => contender(record, referenceRuns) ?? [])
  const leader = better.reduce<Contender | null>((best, one) => (best && best.gain >= one.gain ? best : one), null)
  const contested = new Set(
    better.filter(one => one !== leader && chanceAhead(leader!, one) < surelyAhead).map(({ id }) => id),
  )
  if (contested.size > 0) contested.add(leader!.id)
  const doubtful = new Set(
    better.filter(one => one.probabilityBetter! < beyondDoubt || contested.has(one.id)).map(({ id }) => id),
  )
  const due = records.filter(record => {
    const runs = byOrigin(evidenceOf(record.runs)).own.length
    return runs < seeds + more && (runs > seeds || doubtful.has(record.id))
  })
  return new Set(due.map(({ id }) => id))
}

interface Contender extends MeasuredGain {
  readonly id: number
  /** The part of the gain's variance that is not the reference's, which all have in common. */
  readonly ownVariance: number
}

function contender(
  { id, runs, verdict, measured, environment }: ExperimentRecord,
  referenceRuns: number,
): Contender | null {
  if (verdict !== 'better' || measured === null) return null
  const { own } = byOrigin(evidenceOf(runs))
  const finished = finishedValues(own, objectiveOf(environment.family).name).length
  if (finished === 0) return null
  const share = varianceOfMedian(finished) / (varianceOfMedian(finished) + varianceOfMedian(referenceRuns))
  return { ...measured, id, ownVariance: measured.standardError! ** 2 * share }
}

/** P(the first is truly ahead of the second), Student's t. */
function chanceAhead(first: Contender, second: Contender): number {
  const lead = first.gain - second.gain
  const deviation = Math.sqrt(first.ownVariance + second.ownVariance)
  if (deviation === 0) return lead > 0 ? 1 : 0.5
  return studentCdf(lead / deviation, Math.min(first.degreesOfFreedom, second.degreesOfFreedom))
}
