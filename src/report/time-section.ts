/**
 * Where the time went: a bar of running time by what came of it, Almanac's own time beside it, and the timeline.
 */
import { drawing } from './gain-figures.ts'
import { html, type Markup } from './markup.ts'
import { countText, durationText, percentText } from './numbers.ts'
import { drawTimeline, timeColour } from './plots.ts'
import type { ReportData } from './report-data.ts'
import { type TimeShare, type TimeUse, timeline, timeShares } from './time-spent.ts'

const words: Readonly<Record<TimeUse, string>> = {
  reference: 'reference',
  finished: 'candidates that finished',
  failed: 'candidates that failed',
  lost: 'lost to infrastructure or cancelled',
  running: 'still running',
}

export function timeSection({ runs, overheadSeconds }: ReportData): Markup {
  const shares = timeShares(runs)
  const heading = html`<h2>Where the time went</h2>`
  const total = shares.reduce((sum, { seconds }) => sum + seconds, 0)
  const untimed = shares.reduce((sum, share) => sum + share.untimed, 0)
  if (shares.length === 0) return html`<section>${heading}<p class="empty">Nothing has run yet.</p></section>`
  const overhead =
    overheadSeconds === undefined || !Number.isFinite(overheadSeconds)
      ? null
      : html`<p class="note">Almanac itself took ${durationText(overheadSeconds)} beside the runs, ${durationText(overheadSeconds / runs.length)} a run.</p>`
  const missing =
    untimed > 0 ? html`<p class="note">Of ${countText(untimed, 'run')} the duration is not known.</p>` : null
  return html`<section>${heading}${total > 0 ? bar(shares, total) : null}${missing}${overhead}${lanes(runs)}</section>`
}

function bar(shares: readonly TimeShare[], total: number): Markup {
  const parts = shares
    .filter(({ seconds }) => seconds > 0)
    .map(
      ({ use, seconds }) =>
        html`<span style="flex: ${(seconds / total).toFixed(5)} 0 0; background: ${timeColour(use)}"></span>`,
    )
  const entries = shares.map(
    ({ use, seconds, runs }) =>
      html`<li><span class="swatch" style="background: ${timeColour(use)}"></span>${words[use]}: ${durationText(seconds)}, ${percentText(seconds / total)} (${countText(runs, 'run')})</li>`,
  )
  return html`<div class="bar" aria-hidden="true">${parts}</div><ul class="key">${entries}</ul>`
}

function lanes(runs: ReportData['runs']): Markup | null {
  const placed = timeline(runs)
  if (placed === null) return null
  const bySlot = placed.placed.every(({ run, lane }) => run.slot === lane)
  const cuts =
    placed.cuts.length === 0
      ? ''
      : ` Dotted lines mark ${countText(placed.cuts.length, 'idle stretch', 'idle stretches')} cut out, ${durationText(placed.cuts.reduce((sum, { idleSeconds }) => sum + idleSeconds, 0))} together.`
  const description = `${countText(placed.placed.length, 'run')} in ${countText(placed.lanes, 'lane')} over ${durationText(placed.seconds)}.`
  return html`<figure>${drawing(description, size => drawTimeline(placed, size))}
<figcaption>Every run, one line a ${bySlot ? 'slot' : 'lane'}; the gaps between are idle time.${cuts}</figcaption></figure>`
}
