/**
 * Which records are run again before they are called better. Of many candidates the luckiest look best, so what would be
 * called better has to be so with fresh seeds too, as long as luck could explain it, or could have decided which is best.
 * Pure; what is run again is counted with all its seeds, and nothing is asked twice.
 */

import { type Noise, pooledNoise, type Side, sideOf, uncertaintyOf } from '../experiment/gain.ts'
import type { ExperimentRecord, MeasuredGain } from '../experiment/record.ts'
import { byOrigin, evidenceOf, ownValues } from '../experiment/records.ts'
import { studentCdf } from '../statistics/student.ts'

/** From this chance of a gain on, a repeat would not change the verdict: it is not asked for. */
const beyondDoubt = 0.999

/** Of two records one is ahead when that is as sure as a verdict has to be. */
const surelyAhead = 0.95

export interface Confirmation {
  /** Runs of a candidate before anything is asked again, and how many more it then gets. */
  readonly seeds: number
  readonly more: number
  /** The records that are compared and may be asked again, by id; all others only tell the noise. Absent: all. */
  readonly among?: ReadonlySet<number>
  /** The objective over the reference's finished runs. */
  readonly reference: readonly number[]
}

/**
 * The ids of the records that are due for more seeds: called better after their first seeds, and either with
 * P(gain > 0) below 0.999, or so close to the best (itself included) that which of them is ahead is not sure (P < 0.95).
 * And those that have had a part of theirs, whatever it showed: stopping as soon as it looks well would be luck again.
 *
 * @param records of one version, all of them
 */
export function awaitingConfirmation(
  records: readonly ExperimentRecord[],
  { seeds, more, among, reference }: Confirmation,
): Set<number> {
  const noise = pooledNoise(reference, records.map(ownValues))
  const asked = records.filter(({ id }) => among?.has(id) ?? true)
  const better = noise === null ? [] : asked.flatMap(record => contender(record, noise) ?? [])
  const leader = better.reduce<Contender | null>((best, one) => (best && best.gain >= one.gain ? best : one), null)
  const contested = new Set(
    better.filter(one => one !== leader && chanceAhead(leader!, one) < surelyAhead).map(({ id }) => id),
  )
  if (contested.size > 0) contested.add(leader!.id)
  const doubtful = new Set(
    better.filter(one => one.probabilityBetter! < beyondDoubt || contested.has(one.id)).map(({ id }) => id),
  )
  const due = asked.filter(record => {
    const runs = byOrigin(evidenceOf(record.runs)).own.length
    return runs < seeds + more && (runs > seeds || doubtful.has(record.id))
  })
  return new Set(due.map(({ id }) => id))
}

interface Contender extends MeasuredGain {
  readonly id: number
  readonly side: Side
}

function contender(record: ExperimentRecord, noise: Noise): Contender | null {
  const { id, verdict, measured } = record
  const values = ownValues(record)
  if (verdict !== 'better' || measured === null || values.length === 0) return null
  return { ...measured, id, side: sideOf(values, noise) }
}

/**
 * P(the first is truly ahead of the second), Student's t. The reference that both gains are against cancels, so the standard
 * error is of the two medians alone, each from its own number of seeds and with the noise that its verdict goes by.
 */
function chanceAhead(first: Contender, second: Contender): number {
  const lead = first.gain - second.gain
  const { standardError, degreesOfFreedom } = uncertaintyOf(first.side, second.side)
  if (standardError === 0) return lead > 0 ? 1 : 0.5
  return studentCdf(lead / standardError, degreesOfFreedom)
}
