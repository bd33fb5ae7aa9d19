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

/** `weights` are similarities in [0, 1], one for each ending. */
export function finishingProbability(ended: readonly Ending[], weights: ArrayLike<number>): number {
  let finished = baseRateWeight * baseRate(ended)
  let total = baseRateWeight
  ended.forEach(({ share }, index) => {
    finished += weights[index]! * share
    total += weights[index]!
  })
  return finished / total
}
