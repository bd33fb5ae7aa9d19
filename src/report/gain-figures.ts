/**
 * The two figures about gains, with their keys and captions: best gain by run, and forecast against measured gain.
 */
import { objectiveOf } from '../experiment/environment.ts'
import type { Verdict } from '../experiment/record.ts'
import { enough, finishingQuality, forecastQuality } from './forecast-quality.ts'
import { bestByRun, type ForecastPair, forecastPairs, type Interval, type MeasuredRecord } from './gain-series.ts'
import { html, type Markup } from './markup.ts'
import { countText, decimalsFor, intervalText, percentText, signed } from './numbers.ts'
import { bounded, singleLine } from './outside-text.ts'
import {
  bestByRunFrame,
  drawBestByRun,
  drawForecasts,
  forecastFrame,
  outsideFrame,
  type Size,
  verdictKey,
  withBars,
} from './plots.ts'
import type { ReportData } from './report-data.ts'

/** `val_bpb (bits per byte)`: the objective with its unit, short enough for an axis. */
export function objectiveLabel({ environment: { family } }: Pick<ReportData, 'environment'>): string {
  const { name, unit } = objectiveOf(family)
  const short = (text: string) => singleLine(bounded(text, 32))
  return unit === undefined || unit === '' ? short(name) : `${short(name)} (${short(unit)})`
}

/** The drawing in both sizes; the style sheet shows the one that fits. The description stands for it where it cannot be seen. */
export function drawing(description: string, draw: (size: Size) => Markup): Markup {
  return html`<div role="img" aria-label="${description}"><div class="wide">${draw('wide')}</div><div class="narrow">${draw('narrow')}</div></div>`
}

const shapes: Readonly<Record<Verdict, Markup>> = {
  better: html`<circle cx="7" cy="7" r="4.5" fill="var(--better)"/>`,
  inconclusive: html`<circle cx="7" cy="7" r="4" fill="none" stroke="var(--inconclusive)" stroke-width="1.6"/>`,
  worse: html`<path d="M2 3.5h10L7 11.5z" fill="var(--worse)"/>`,
  failed: html`<path d="M3 3l8 8M11 3l-8 8" stroke="var(--failed)" stroke-width="1.6"/>`,
}

function key(verdicts: readonly Verdict[]): Markup {
  const entries = verdicts.map(
    verdict =>
      html`<li><svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">${shapes[verdict]}</svg>${verdict}</li>`,
  )
  return html`<ul class="key">${entries}</ul>`
}

function outsideSentence(points: readonly MeasuredRecord[], frame: Interval): string {
  const outside = outsideFrame(points, frame)
  return outside === 0 ? '' : ` ${countText(outside, 'gain')} beyond the frame: an arrow at its edge.`
}

export function bestGainSection(data: ReportData): Markup {
  const series = bestByRun(data.records)
  const heading = html`<h2>Best gain by run</h2>`
  const ungained = data.records.filter(({ outcome, measured }) => outcome === 'finished' && measured === null).length
  const ungainedSentence =
    ungained === 0
      ? ''
      : ` ${countText(ungained, 'candidate')} finished without a gain, since the reference was not measured.`
  if (series.points.length === 0) {
    const failures = series.failures.length
    const why =
      failures > 0
        ? `All ${countText(failures, 'candidate')} so far failed; a failure has no gain.`
        : 'No gain has been measured yet.'
    return html`<section>${heading}<p class="empty">${ungained > 0 ? ungainedSentence.trim() : why}</p></section>`
  }
  const last = series.segments.at(-1)!.steps.at(-1)!.best
  const spread = last === 0 ? 0 : decimalsFor(last / 10)
  const description = `Best gain after each of ${countText(series.lastRun, 'run')}; it ends at ${signed(last, spread)}.`
  const promotions =
    series.segments.length > 1
      ? ' After a promotion the line starts again at zero: a gain is always against its own reference.'
      : ''
  const shown = verdictKey.filter(verdict =>
    verdict === 'failed'
      ? series.failures.length > 0
      : series.points.some(({ record }) => (record.verdict ?? 'inconclusive') === verdict),
  )
  return html`<section>${heading}
<p class="note">Each mark is a candidate after its last run${withBars(series.points.length) ? ' with the 95 % interval of its gain' : ''}; the line is the best so far. Zero is the reference, larger is better.</p>
<figure>${drawing(description, size => drawBestByRun(series, `gain in ${objectiveLabel(data)}`, size))}
${key(shown)}
<figcaption>${`${promotions}${outsideSentence(series.points, bestByRunFrame(series))}${ungainedSentence}`.trim()}</figcaption></figure></section>`
}

export function forecastSection(data: ReportData): Markup {
  const pairs = forecastPairs(data)
  const heading = html`<h2>Forecast against measured gain</h2>`
  if (pairs.length === 0) {
    const why =
      data.forecasts.size > 0
        ? 'No candidate with a forecast has a measured gain yet.'
        : 'No forecast was stored before these runs.'
    return html`<section>${heading}<p class="empty">${why}</p></section>`
  }
  const description = `Forecast median against measured gain of ${countText(pairs.length, 'candidate')}.`
  const shown = verdictKey.filter(verdict => pairs.some(({ record }) => (record.verdict ?? 'inconclusive') === verdict))
  return html`<section>${heading}
<div class="beside"><figure>${drawing(description, size => drawForecasts(pairs, `gain in ${objectiveLabel(data)}`, size))}
${key(shown)}</figure>
<div>${qualityProse(data, pairs)}
<p class="note">On the dashed line a forecast was exactly right.${withBars(pairs.length) ? ' The broad horizontal bar is the forecast’s 80 % interval, the thin vertical one the 95 % interval of the measurement.' : ''}${outsideSentence(pairs, forecastFrame(pairs))}</p></div></div></section>`
}

/** What the figure says, in sentences: ranking, coverage, size of the error, chance of finishing. */
function qualityProse(data: ReportData, pairs: readonly ForecastPair[]): Markup {
  const quality = forecastQuality(pairs)
  const forecasters = [
    ...new Set(
      pairs.map(
        ({ forecast }) =>
          `${singleLine(bounded(forecast.forecaster, 60))} (version ${singleLine(bounded(forecast.forecasterVersion, 20))})`,
      ),
    ),
  ]
  const by = html`<p>${countText(pairs.length, 'forecast')} by <bdi>${forecasters.join(', ')}</bdi>, each stored before its run.</p>`
  const finishing = finishingQuality(data.records, data.forecasts)
  const finishingSentence =
    finishing === null
      ? null
      : html`<p>A candidate was given ${percentText(finishing.forecast)} to finish legally on average; ${finishing.finished} of ${finishing.records} did (${percentText(finishing.finished / finishing.records)}).</p>`
  if (pairs.length < enough) {
    return html`${by}<p>That is too few to say how good they are: rank correlation and coverage are given from ${enough} on.</p>${finishingSentence}`
  }
  const { spearman, spearmanInterval, meanAbsoluteError, meanAbsoluteGain, inside } = quality
  const ranking =
    spearman === null || spearmanInterval === null
      ? 'Forecasts or gains are all equal, so there is no rank correlation.'
      : `Spearman’s rank correlation is ${signed(spearman, 2)}, 95 % interval ${intervalText(spearmanInterval.low, spearmanInterval.high, 2)}.`
  const size = decimalsFor(meanAbsoluteGain ?? 0)
  const error =
    meanAbsoluteError === null || meanAbsoluteGain === null
      ? ''
      : `A forecast was off by ${meanAbsoluteError.toFixed(size)} on average; always saying “no gain” would have been off by ${meanAbsoluteGain.toFixed(size)}.`
  return html`${by}<p>${ranking}</p><p>${inside} of ${pairs.length} measured gains (${percentText(inside / pairs.length)}) lie inside the 80 % interval.</p><p>${error}</p>${finishingSentence}`
}
