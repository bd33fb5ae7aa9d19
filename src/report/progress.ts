/**
 * The line that shows how far a campaign is: round, runs, elapsed time, best gain so far. Pure text; whoever prints it
 * decides whether it is overwritten or repeated.
 */
import type { MeasuredGain } from '../experiment/record.ts'
import { truncate } from './display-width.ts'
import { durationText, gainText } from './numbers.ts'
import { singleLine } from './outside-text.ts'

export interface Progress {
  /** Counts from 1; `reference` while that is measured, null outside a campaign. */
  readonly round: number | 'reference' | null
  /** Null where only the budget ends the campaign. */
  readonly rounds: number | null
  /** Runs that have ended, in any way. */
  readonly runsEnded: number
  /** Runs the budget allows; null where it counts hours or cost. */
  readonly runsBudget: number | null
  readonly runsRunning: number
  readonly runsFailed: number
  readonly elapsedSeconds: number
  /** Seconds the budget allows; null where it counts something else. */
  readonly secondsBudget: number | null
  /** The largest gain measured so far in this campaign, and what brought it; null before there is one. */
  readonly best: { readonly measured: MeasuredGain; readonly sentence: string } | null
}

/** `round 2/4 · run 7/24, 2 running, 1 failed · 1 min 12 s · best +0.0123 ± 0.0040 (swap AdamW for Muon)`, cut to `columns`. */
export function progressLine(progress: Progress, columns: number): string {
  const of = (count: number, total: number | null) => (total === null ? String(count) : `${count}/${total}`)
  const runs = [
    `run ${of(progress.runsEnded, progress.runsBudget)}`,
    progress.runsRunning > 0 ? `${progress.runsRunning} running` : '',
    progress.runsFailed > 0 ? `${progress.runsFailed} failed` : '',
  ].filter(Boolean)
  const elapsed = durationText(progress.elapsedSeconds)
  const parts = [
    typeof progress.round === 'number' ? `round ${of(progress.round, progress.rounds)}` : (progress.round ?? ''),
    runs.join(', '),
    progress.secondsBudget === null ? elapsed : `${elapsed} of ${durationText(progress.secondsBudget)}`,
    progress.best === null
      ? typeof progress.round === 'number'
        ? 'no gain measured yet'
        : ''
      : `best ${gainText(progress.best.measured)} (${truncate(singleLine(progress.best.sentence), 60)})`,
  ]
  return truncate(parts.filter(Boolean).join(' · '), columns)
}
