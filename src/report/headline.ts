/**
 * The top of the report: what was tried, what came of it, and how far the forecasts can be trusted, in a sentence and
 * a few large figures.
 */
import type { Verdict } from '../experiment/record.ts'
import { enough, forecastQuality } from './forecast-quality.ts'
import { objectiveLabel } from './gain-figures.ts'
import { bestRecord, forecastPairs, gainInterval } from './gain-series.ts'
import { html, type Insertion, type Markup } from './markup.ts'
import { countText, dash, decimalsFor, durationText, gainText, intervalText, percentText, signed } from './numbers.ts'
import { bounded, singleLine } from './outside-text.ts'
import type { ReportData } from './report-data.ts'
import { candidateText, isRunning, verdictText } from './result-table.ts'
import { secondsOf } from './time-spent.ts'

function figure(label: string, value: Insertion, note: Insertion): Markup {
  return html`<div><dt>${label}</dt><dd class="figure">${value}</dd><dd class="note">${note}</dd></div>`
}

export function headline(data: ReportData): Markup {
  const ended = data.runs.filter(run => run.outcome !== null)
  const finished = ended.filter(run => run.outcome === 'finished').length
  const seconds = data.runs.reduce((sum, run) => sum + (secondsOf(run) ?? 0), 0)
  const untimed = ended.filter(run => secondsOf(run) === null).length
  const candidates = data.records.filter(record => record.verdict !== null).length
  const runNote =
    ended.length === 0
      ? 'nothing has run yet'
      : `${finished} finished, of ${countText(candidates, 'candidate')} and the reference`
  return html`<p>${outcomeSentence(data)}</p>
<dl class="headline">
${figure('Runs', String(ended.length), runNote)}
${figure(
  'Time running',
  ended.length === untimed ? dash : durationText(seconds),
  untimed > 0 ? `${countText(untimed, 'run')} of unknown duration not counted` : 'summed over all runs',
)}
${bestFigure(data)}
${forecastFigures(data)}
</dl>`
}

/** `Of 24 candidates tried, 5 are better than the reference …` */
export function outcomeSentence({ records }: Pick<ReportData, 'records'>): string {
  const judged = records.filter(record => record.verdict !== null)
  const running = records.filter(record => record.verdict === null && isRunning(record)).length
  const count = (verdict: Verdict) => judged.filter(record => record.verdict === verdict).length
  if (judged.length === 0)
    return running > 0
      ? `${countText(running, 'candidate')} running, none measured yet.`
      : 'No candidate has been tried yet.'
  const parts = [
    `${count('better')} better than the reference`,
    `${count('worse')} worse`,
    `${count('inconclusive')} too close to call`,
    `${count('failed')} failed`,
  ]
  const more = running > 0 ? ` ${countText(running, 'more', 'more')} running.` : ''
  return `${countText(judged.length, 'candidate')} tried: ${parts.join(', ')}.${more}`
}

function bestFigure(data: ReportData): Markup {
  const best = bestRecord(data)
  const measured = best?.record.measured ?? null
  if (best === null || measured === null) return figure('Best gain', dash, 'no gain has been measured')
  const interval = gainInterval(measured)
  const sentence = bounded(singleLine(candidateText(best.record)), 90)
  return figure(
    `Best gain in ${objectiveLabel(data)}`,
    interval === null ? gainText(measured) : signed(best.gain, decimalsFor(interval.high - interval.low)),
    html`${
      interval === null
        ? 'never repeated, so without an interval'
        : html`<span class="number">${intervalText(interval.low, interval.high)}</span>, 95 %`
    }; <span class="${best.record.verdict ?? 'soft'}">${verdictText(best.record)}</span>: <bdi>${sentence}</bdi>`,
  )
}

function forecastFigures(data: ReportData): Markup {
  const quality = forecastQuality(forecastPairs(data))
  const few = `${countText(quality.pairs, 'forecast')} with a measured gain: too few to say`
  if (quality.pairs < enough)
    return html`${figure('Forecasts rank gains', dash, few)}${figure('80 % intervals hold', dash, few)}`
  const { spearman, spearmanInterval } = quality
  return html`${figure(
    'Forecasts rank gains',
    spearman === null ? dash : signed(spearman, 2),
    spearman === null || spearmanInterval === null
      ? 'no rank correlation: forecasts or gains are all equal'
      : html`Spearman, 95 % interval <span class="number">${intervalText(spearmanInterval.low, spearmanInterval.high, 2)}</span>, n = ${quality.pairs}`,
  )}${figure(
    '80 % intervals hold',
    percentText(quality.inside / quality.pairs),
    `${quality.inside} of ${quality.pairs} measured gains inside`,
  )}`
}
