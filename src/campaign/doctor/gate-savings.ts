/**
 * What a gate would have saved on a finished history, and at what loss: a candidate whose forecast, made from the rows before it, gives it
 * too small a chance of a gain is not run. The forecasts know the results of what a gate would have left out, so a real one would know less.
 */
import { chanceOfGain } from '../../forecast/chance-of-gain.ts'
import type { Judged } from '../../forecast/judge.ts'

export const thresholds = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5] as const

export interface GateSaving {
  /** Candidates with a smaller chance of a legal gain are left out. */
  readonly threshold: number
  readonly saved: number
  /** Of those saved: how many had gained, and how many had become a reference. */
  readonly gainsLost: number
  readonly keptLost: number
  /** What those lost had gained, as a share of what all had gained; of what was kept, where something was. */
  readonly gainShareLost: number
}

export interface GateSavings {
  readonly asked: number
  readonly gains: number
  readonly kept: number
  readonly savings: readonly GateSaving[]
}

export function gateSavings(judged: readonly Judged[], promoted: ReadonlySet<number>): GateSavings {
  const rows = judged.map(({ record, forecast }) => ({
    chance: chanceOfGain(forecast),
    gain: Math.max(0, record.measured?.gain ?? 0),
    isKept: promoted.has(record.id) && record.measured !== null,
  }))
  const kept = rows.filter(({ isKept }) => isKept)
  const counted = kept.length > 0 ? kept : rows
  const total = sum(counted)
  return {
    asked: rows.length,
    gains: rows.filter(({ gain }) => gain > 0).length,
    kept: kept.length,
    savings: thresholds.map(threshold => {
      const lost = rows.filter(({ chance }) => chance < threshold)
      return {
        threshold,
        saved: lost.length,
        gainsLost: lost.filter(({ gain }) => gain > 0).length,
        keptLost: lost.filter(({ isKept }) => isKept).length,
        gainShareLost: total === 0 ? 0 : sum(counted.filter(({ chance }) => chance < threshold)) / total,
      }
    }),
  }
}

function sum(rows: readonly { readonly gain: number }[]): number {
  return rows.reduce((all, { gain }) => all + gain, 0)
}
