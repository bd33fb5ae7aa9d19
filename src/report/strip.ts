/**
 * A row's forecast and measured gain as a small strip on a scale that all rows share: the 80 % interval of the forecast
 * as a bar with its median, the measured gain as a dot with its 95 % interval.
 */
import type { Forecast } from '../experiment/record.ts'
import { type Interval, isOutside, type MeasuredRecord, within } from './gain-series.ts'
import { html, type Markup } from './markup.ts'

const width = 168
const height = 24

export function strip(forecast: Forecast | undefined, measured: MeasuredRecord | null, frame: Interval): Markup {
  const x = (gain: number) =>
    (((within(gain, frame) - frame.low) / (frame.high - frame.low)) * (width - 12) + 6).toFixed(1)
  const middle = height / 2
  const zero = x(0)
  const usable =
    forecast?.quantiles.every(Number.isFinite) && !isOutside(forecast.quantiles[2], frame) ? forecast.quantiles : null
  const bar =
    usable === null
      ? null
      : html`<line x1="${x(usable[0])}" x2="${x(usable[4])}" y1="${middle}" y2="${middle}" stroke="var(--soft)" stroke-opacity=".3" stroke-width="9"/><line x1="${x(usable[2])}" x2="${x(usable[2])}" y1="${middle - 4.5}" y2="${middle + 4.5}" stroke="var(--soft)" stroke-width="1.5"/>`
  return html`<svg class="strip" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true"><line x1="${zero}" x2="${zero}" y1="0" y2="${height}" stroke="var(--rule)"/>${bar}${measured === null ? null : dot(measured, frame, x, middle)}</svg>`
}

function dot(
  { record, gain, interval }: MeasuredRecord,
  frame: Interval,
  x: (gain: number) => string,
  y: number,
): Markup {
  const colour = `var(--${record.verdict ?? 'soft'})`
  if (isOutside(gain, frame)) {
    const inward = gain < frame.low ? 7 : -7
    return html`<path d="M${x(gain)} ${y}l${inward} -4.5v9z" fill="${colour}"/>`
  }
  const whisker =
    interval === null
      ? null
      : html`<line x1="${x(interval.low)}" x2="${x(interval.high)}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="1.5"/>`
  return html`${whisker}<circle cx="${x(gain)}" cy="${y}" r="3.5" fill="${record.verdict === 'inconclusive' ? 'var(--paper)' : colour}" stroke="${colour}" stroke-width="1.5"/>`
}
