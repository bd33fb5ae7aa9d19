/**
 * The table of candidates: sentence, tags, changed options, forecast, measured gain, verdict, runs. Newest reference
 * first, and within one the largest gain first, failures last.
 */
import { isEvidence } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { changeText } from './changes.ts'
import { gainFrame, type Interval, measuredRecord } from './gain-series.ts'
import { html, type Insertion, type Markup } from './markup.ts'
import { countText, dash, forecastText, gainText, percentText } from './numbers.ts'
import { bounded, singleLine, visibleText } from './outside-text.ts'
import type { ReportData } from './report-data.ts'
import { candidateText, verdictText } from './result-table.ts'
import { strip } from './strip.ts'
import { versionName } from './version-name.ts'

/** Characters of a sentence that a row shows; the rest, up to `longest`, opens on demand. */
const shown = 280
const longest = 4000
const longestDiff = 6000
const mostChanges = 8
/** Rows for one version; the best come first, and the ledger lists them all. */
const mostRows = 1000

export function recordsSection(data: ReportData): Markup {
  const heading = html`<h2>Candidates</h2>`
  const tried = data.records.filter(({ runs }) => runs.length > 0)
  const passed = data.records.length - tried.length
  const passedOver =
    passed === 0
      ? null
      : html`<p class="note">${countText(passed, 'more candidate', 'more candidates')} written down but never run.</p>`
  if (tried.length === 0)
    return html`<section>${heading}<p class="empty">No candidate has been tried yet.</p>${passedOver}</section>`
  const points = tried.flatMap(record => measuredRecord(record) ?? [])
  const medians = tried.flatMap(record => data.forecasts.get(record.id)?.quantiles ?? [])
  const frame = gainFrame([...points.map(({ gain }) => gain), ...medians])
  const explored = new Map(
    data.campaigns.flatMap(({ rounds }) =>
      rounds.flatMap(({ chosen }) => chosen.map(choice => [choice.recordId, choice] as const)),
    ),
  )

  const versions = [...new Set(tried.map(record => record.environment.version.id))]
  const order = data.lineage.map(({ version }) => version.id)
  versions.sort((a, b) => order.indexOf(b) - order.indexOf(a))
  const bodies = versions.map(versionId => {
    const own = tried.filter(record => record.environment.version.id === versionId).sort(byGain)
    const head =
      versions.length > 1
        ? html`<tr><th colspan="6">${countText(own.length, 'candidate')} against ${versionName(data.lineage, versionId)}</th></tr>`
        : null
    const rows = own
      .slice(0, mostRows)
      .map(record => row(record, data.forecasts.get(record.id), frame, explored.get(record.id)?.explored ?? false))
    const more =
      own.length > mostRows
        ? html`<tr><td colspan="6" class="note">and ${countText(own.length - mostRows, 'more', 'more')}, not shown.</td></tr>`
        : null
    return html`<tbody class="version">${head}${rows}${more}</tbody>
`
  })
  return html`<section>${heading}
<p class="note">A forecast is its median with the 80 % interval; a gain is given with one standard error. In the strip the bar is the forecast, the dot the measurement with its 95 % interval, the upright line zero.</p>
<table class="records stacking"><thead><tr><th>candidate</th><th class="number">forecast</th><th class="number">measured gain</th><th>forecast and gain</th><th>verdict</th><th class="number">finished</th></tr></thead>
${bodies}</table>${passedOver}</section>`
}

/** Largest gain first; then what has no gain yet; failures last. */
function byGain(a: ExperimentRecord, b: ExperimentRecord): number {
  const gain = ({ measured }: ExperimentRecord) => measured?.gain ?? Number.NaN
  const place = (record: ExperimentRecord) => (Number.isFinite(gain(record)) ? 0 : record.verdict === 'failed' ? 2 : 1)
  return place(a) - place(b) || gain(b) - gain(a) || a.id - b.id
}

function row(record: ExperimentRecord, forecast: Forecast | undefined, frame: Interval, explored: boolean): Markup {
  const finishing =
    forecast === undefined || !Number.isFinite(forecast.finishes)
      ? null
      : html`<span class="reason">${percentText(forecast.finishes)} to finish</span>`
  return html`<tr><td>${sentence(record)}${reason(record)}${changes(record)}${tags(record, explored)}${diff(record)}</td>
<td class="number" data-label="forecast"><span>${forecast === undefined ? dash : forecastText(forecast.quantiles)}${finishing}</span></td>
<td class="number" data-label="measured gain">${gainText(record.measured)}</td>
<td data-label="">${strip(forecast, measuredRecord(record), frame)}</td>
<td data-label="verdict"><span><span class="verdict ${record.verdict ?? 'soft'}">${record.verdict ?? verdictText(record)}</span>${outcome(record)}</span></td>
<td class="number" data-label="runs finished">${runs(record)}</td></tr>
`
}

function sentence(record: ExperimentRecord): Markup {
  const whole = singleLine(candidateText(record))
  if (whole.length <= shown) return html`<bdi class="sentence">${whole}</bdi>`
  return html`<bdi class="sentence clamp">${whole.slice(0, shown)}…</bdi><details><summary>whole sentence</summary><bdi>${bounded(whole, longest)}</bdi></details>`
}

function changes({ changes }: ExperimentRecord): Markup | null {
  if (changes.length === 0) return null
  const lines = changes.slice(0, mostChanges).map(change => html`<bdi>${bounded(changeText(change), 160)}</bdi><br>`)
  const more = changes.length > mostChanges ? `and ${changes.length - mostChanges} more` : null
  return html`<span class="changes">${lines}${more}</span>`
}

function tags({ intervention, id }: ExperimentRecord, explored: boolean): Markup {
  const names = [
    `record ${id}`,
    ...intervention.tags.slice(0, 8).map(tag => bounded(singleLine(tag), 60)),
    ...(explored ? ['explored'] : []),
  ]
  return html`<span class="tags">${names.map(name => html`<bdi>${name}</bdi>`)}</span>`
}

function diff({ intervention }: ExperimentRecord): Markup | null {
  if (intervention.diff === null || intervention.diff === '') return null
  return html`<details><summary>diff</summary><pre><bdi>${bounded(visibleText(intervention.diff), longestDiff)}</bdi></pre></details>`
}

/** How a failure failed; for anything else the verdict says enough. */
function outcome(record: ExperimentRecord): Insertion {
  return record.verdict === 'failed' && record.outcome !== null
    ? html`<span class="reason">${record.outcome}</span>`
    : null
}

/** Why it failed, in the words of its first failed run. */
function reason(record: ExperimentRecord): Insertion {
  if (record.verdict !== 'failed') return null
  const words = record.runs.find(run => run.outcome?.kind === record.outcome)?.outcome?.reason ?? ''
  return words === '' ? null : html`<bdi class="reason">${bounded(singleLine(words), 200)}</bdi>`
}

/** `2 of 2`: how many of its runs finished; those that say nothing about the idea are left out. */
function runs({ runs }: ExperimentRecord): string {
  const counted = runs.filter(({ outcome }) => outcome === null || isEvidence(outcome.kind))
  const finished = counted.filter(({ outcome }) => outcome?.kind === 'finished').length
  return counted.length === 0 ? dash : `${finished} of ${counted.length}`
}
