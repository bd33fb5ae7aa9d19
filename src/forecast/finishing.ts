/**
 * The probability of finishing legally: a Beta estimate whose prior is the base rate of the history, and whose counts are
 * records weighted by how much they resemble the candidate.
 */
import type { ExperimentRecord } from '../experiment/record.ts'
import { finishedShare } from './evidence.ts'

/** One imaginary record of which four fifths finished: proposals are mostly runnable, and we are not sure. */
const priorRate = 0.8

/** How many similar records the base rate is worth. */
const baseRateWeight = 2

/** A record that ended, with the share of its runs that finished legally. */
export interface Ending {
  readonly record: ExperimentRecord
  readonly share: number
}

export function endings(history: readonly ExperimentRecord[]): Ending[] {
  return history.flatMap(record => {
    const share = finishedShare(record)
    return share === null ? [] : [{ record, share }]
  })
}

export function baseRate(ended: readonly Ending[]): number {
  return (ended.reduce((sum, { share }) => sum + share, 0) + priorRate) / (ended.length + 1)
}

/** For one candidate after the other, from its cosines with the records in their order; what is half alike counts a quarter. */
export function finishingByCosines(records: readonly ExperimentRecord[]): (cosines: Float64Array) => number {
  const ended = endings(records)
  const base = baseRate(ended)
  const placeOf = new Map(records.map((record, place) => [record, place]))
  const places = Int32Array.from(ended, ({ record }) => placeOf.get(record)!)
  const shares = Float64Array.from(ended, ({ share }) => share)
  return cosines => {
    let finished = baseRateWeight * base
    let total = baseRateWeight
    for (let index = 0; index < places.length; index++) {
      const weight = cosines[places[index]!]! ** 2
      finished += weight * shares[index]!
      total += weight
    }
    return finished / total
  }
}
