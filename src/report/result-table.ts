/**
 * The table that a campaign ends with and `records` prints: number of the record (what `promote` takes), candidate, forecast
 * with its 80 % interval, measured gain with its standard error, verdict. Rows come in the order given.
 */
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { changeText, valueText } from './changes.ts'
import { truncate } from './display-width.ts'
import { dash, forecastText, gainText } from './numbers.ts'
import { singleLine } from './outside-text.ts'
import { type Cell, renderTable, type TableOptions } from './table.ts'

/** What the last column says: the verdict; how it failed, for a failure; what became of its runs before there is either. */
export function verdictText(record: ExperimentRecord): string {
  const { verdict, outcome, runs } = record
  if (verdict === 'failed') return outcome === null || outcome === 'finished' ? verdict : outcome
  if (verdict !== null) return verdict
  if (isRunning(record)) return 'running'
  return outcome ?? runs.at(-1)?.outcome?.kind ?? 'not run'
}

/** Whether a run of it has not ended yet. */
export function isRunning({ runs }: ExperimentRecord): boolean {
  return runs.some(({ outcome }) => outcome === null)
}

/** What names a record on one line: its sentence, or the options it changes where it has none. */
export function candidateText(record: Pick<ExperimentRecord, 'id' | 'intervention' | 'changes'>): string {
  const sentence = record.intervention.sentence.trim()
  if (sentence !== '') return sentence
  return record.changes.length > 0 ? record.changes.map(changeText).join(', ') : `intervention ${record.id}`
}

/**
 * For a table's cell: the sentence, and in brackets the options that it does not name the new values of, so that one sees what was run:
 * `far (rate 0.1 → 3)`. What code changes is left to its sentence.
 */
function cellText(record: Pick<ExperimentRecord, 'id' | 'intervention' | 'changes'>): string {
  const { intervention, changes } = record
  const text = candidateText(record)
  const isSaid = changes.every(
    ({ to }) => to !== undefined && [valueText(to), String(to)].some(value => saysValue(intervention.sentence, value)),
  )
  if (intervention.overrides === null || intervention.sentence.trim() === '' || isSaid) return text
  return `${text.length > longest ? truncate(singleLine(text), longest) : text} (${changes.map(changeText).join(', ')})`
}

function saysValue(sentence: string, value: string): boolean {
  const at = sentence.indexOf(value)
  return at >= 0 && !/[\w.]/.test(sentence[at - 1] ?? '') && !/^[\w]|^\.\d/.test(sentence.slice(at + value.length))
}

/** Of a sentence that options stand behind. */
const longest = 40

export function renderResultTable(
  records: readonly ExperimentRecord[],
  forecasts: ReadonlyMap<number, Forecast>,
  options: TableOptions,
): string {
  const rows = records.map((record): Cell[] => {
    const forecast = forecasts.get(record.id)
    return [
      String(record.id),
      cellText(record),
      forecast === undefined ? dash : forecastText(forecast.quantiles),
      gainText(record.measured),
      record.verdict === null
        ? { text: verdictText(record), style: 'faint' }
        : { text: verdictText(record), style: record.verdict },
    ]
  })
  return renderTable(
    [
      { heading: '#', align: 'right' },
      { heading: 'candidate', shrinkTo: 16 },
      { heading: 'forecast (80 %)', align: 'right', shrinkTo: 14 },
      { heading: 'gain ± s.e.', align: 'right' },
      { heading: 'verdict' },
    ],
    rows,
    options,
  )
}
