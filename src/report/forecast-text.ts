/**
 * Forecasts for the terminal: a table, best first, then what a person would want to know beside each candidate, in a line or two:
 * whether it was tried before and what came of it, whether it would be refused, and what a language model says of its numbers.
 */
import type { Closeness, CloseRecord } from '../campaign/closest-records.ts'
import type { Environment } from '../experiment/environment.ts'
import type { ExperimentRecord, Explanation, Forecast } from '../experiment/record.ts'
import { truncate } from './display-width.ts'
import { gainLegend } from './gain-legend.ts'
import { countText, forecastText, gainText, percentText } from './numbers.ts'
import { bounded, singleLine } from './outside-text.ts'
import { candidateText, verdictText } from './result-table.ts'
import { renderTable, type TableOptions } from './table.ts'
import { widest } from './wrap.ts'

export interface ForeseenCandidate {
  /** Its sentence, or where the change comes from. */
  readonly name: string
  readonly forecast: Forecast
  /** Nearest first. */
  readonly closest: readonly CloseRecord[]
  /** Why it would not be run, or a word on its forecast. */
  readonly objections: readonly { readonly reason: string; readonly refuses: boolean }[]
}

export interface ForecastsToTell {
  readonly environment: Environment
  /** Whether it is the environment of the folder. */
  readonly isHere: boolean
  readonly forecaster: string
  /** How many the forecasts may use. */
  readonly records: number
  /** Ids of those that became a reference. */
  readonly kept: ReadonlySet<number>
  /** Best first. */
  readonly foreseen: readonly ForeseenCandidate[]
  readonly dropped: readonly { readonly sentence: string; readonly reason: string }[]
  /** What to call next; null where nothing suggests itself. */
  readonly next: string | null
}

/** Of the closest records. */
const mostClosest = 2
/** Columns that their sentence keeps at least. */
const leastOfSentence = 16

const labels: Readonly<Record<Closeness, string>> = {
  same: 'tried before',
  'same idea': 'same idea',
  alike: 'reads alike',
}

export function forecastsText(told: ForecastsToTell, options: TableOptions): string {
  const { environment, isHere, forecaster, records, foreseen, dropped, next } = told
  const table = renderTable(
    [
      { heading: 'candidate', shrinkTo: 16 },
      { heading: 'forecast of the gain [80 %]', align: 'right' },
      { heading: 'to finish', align: 'right' },
    ],
    foreseen.map(({ name, forecast }) => [name, forecastText(forecast.quantiles), percentText(forecast.finishes)]),
    options,
  )
  const beside = foreseen.flatMap(each => {
    const lines = linesBeside(each, told)
    return lines.length === 0 ? [] : [truncate(singleLine(each.name), options.width), ...lines.map(line => `  ${line}`)]
  })
  const lost = dropped.map(({ sentence, reason }) => singleLine(`dropped: ${sentence}: ${reason}`))
  const where = isHere ? '' : `, in the environment ${singleLine(environment.family.name)}`
  const words = `By ${forecaster}, from ${countText(records, 'record')}${where}.`
  return [
    ...(foreseen.length === 0
      ? []
      : [
          gainLegend([environment]),
          'In brackets where it lies in 8 cases of 10, if the run finishes; then the chance that it does.',
          '',
          table,
          '',
        ]),
    ...(beside.length === 0 ? [] : [...beside, '']),
    ...(lost.length === 0 ? [] : [...lost, '']),
    records === 0 ? `${words} ${assumedText}` : words,
    ...(next === null ? [] : [`Next: ${next}`]),
  ].join('\n')
}

/** Of a forecast from no record at all. */
export const assumedText = 'That is assumed before anything is known of this environment.'

function linesBeside(
  { closest, objections, forecast }: ForeseenCandidate,
  { environment, kept }: ForecastsToTell,
): string[] {
  return [
    ...closest.slice(0, mostClosest).map(({ record, closeness }) => closeText(record, closeness, environment, kept)),
    ...objections.map(({ reason, refuses }) =>
      singleLine(refuses ? `"almanac run" refuses it: ${reason}` : `${reason}.`),
    ),
    ...(forecast.explanation ? [singleLine(explanationText(forecast.explanation))] : []),
  ]
}

/** `same idea: record 15 (embedding LR 0.6 to 0.8), +0.0033, inconclusive, kept`. */
function closeText(
  record: ExperimentRecord,
  closeness: Closeness,
  { version }: Environment,
  kept: ReadonlySet<number>,
): string {
  const { id, measured } = record
  const facts = [
    ...(measured === null ? [] : [gainText(measured)]),
    verdictText(record),
    ...(kept.has(id) ? ['kept'] : []),
    ...(record.environment.version.id === version.id ? [] : ['earlier reference']),
  ].join(', ')
  const beginning = `${labels[closeness]}: record ${id}`
  if (closeness === 'same') return `${beginning}, ${facts}`
  const room = Math.max(leastOfSentence, widest - beginning.length - facts.length - '   (), '.length)
  return `${beginning} (${truncate(singleLine(candidateText(record)), room)}), ${facts}`
}

/** `by analogy with records 12 and 7; uncertain: …`. */
function explanationText({ basis, closest, uncertainty }: Explanation): string {
  const shown = closest.slice(0, 5).join(', ')
  const records = shown === '' ? '' : `, closest ${closest.length === 1 ? 'record' : 'records'} ${shown}`
  return `by ${basis}${records}; uncertain: ${bounded(uncertainty, 300)}`
}
