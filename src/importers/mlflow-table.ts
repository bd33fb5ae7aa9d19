/**
 * Tables exported of MLflow: what `search_runs` gives as CSV (`metrics.loss`, `params.lr`), and the CSV of the user interface, in which
 * columns do not say whether they were set or measured.
 */
import { readDelimited } from './delimited.ts'
import type { ImportOptions, Source } from './importer.ts'
import { type MlflowRun, trackedMlflow } from './mlflow-run.ts'
import { beginningOf, textOf } from './source.ts'
import type { TableLine } from './table.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { columnKinds, columnsGuess, toldColumns, toldMetrics, withToldMetric } from './tracker-columns.ts'
import { momentIn } from './value.ts'

export function isMlflowTable(source: Source): boolean {
  return source.kind === 'file' && /\.csv$/i.test(source.name) && kindOf(rowsOf(beginningOf(source))[0]) !== null
}

/** Throws a sentence where the table is none of MLflow. */
export async function readMlflowTable(source: Source, options: ImportOptions): Promise<TrackedExperiment[]> {
  const [header, ...rows] = rowsOf(await textOf(source))
  const kind = kindOf(header)
  if (!header || kind === null) {
    throw new Error(
      `${source.name} has not the columns of a table of MLflow's runs (run_id and metrics.…, or Run ID and Status)`,
    )
  }
  return kind === 'search_runs' ? fromSearch(header.cells, rows, options) : fromInterface(header.cells, rows, options)
}

function kindOf(header: TableLine | undefined): 'search_runs' | 'interface' | null {
  const names = header?.cells ?? []
  if (names.includes('run_id') && names.some(name => /^(metrics|params)\./.test(name))) return 'search_runs'
  return ['Run ID', 'Status', 'Start Time'].every(name => names.includes(name)) ? 'interface' : null
}

function rowsOf(text: string): readonly TableLine[] {
  return readDelimited(text.replace(/^\uFEFF/, ''), ',')
}

function fromSearch(names: readonly string[], rows: readonly TableLine[], options: ImportOptions): TrackedExperiment[] {
  const byExperiment = Map.groupBy(rows, row => row.cells[names.indexOf('experiment_id')] ?? '')
  return Array.from(byExperiment, ([experiment, some]) => {
    const runs = some.map((row): MlflowRun => {
      const cell = (name: string) => row.cells[names.indexOf(name)] ?? ''
      const under = (prefix: string) =>
        names.flatMap((name, index): [string, string][] => {
          const value = row.cells[index] ?? ''
          return name.startsWith(prefix) && value !== '' ? [[name.slice(prefix.length), value]] : []
        })
      const tags = new Map(under('tags.'))
      return {
        id: cell('run_id'),
        name: tags.get('mlflow.runName') ?? null,
        status: cell('status') || null,
        isDeleted: false,
        startedAt: millisecondsIn(cell('start_time')),
        endedAt: millisecondsIn(cell('end_time')),
        sourceVersion: null,
        params: new Map(under('params.')),
        tags,
        metrics: new Map(under('metrics.').map(([name, value]) => [name, Number(value)])),
      }
    })
    // Several experiments in a table are told apart by their numbers; the names are not in it.
    return trackedMlflow({ name: byExperiment.size > 1 ? experiment : null, tags: new Map(), runs }, options)
  })
}

const fields = new Set(['Start Time', 'Duration', 'Run ID', 'Name', 'Source Type', 'Source Name', 'User', 'Status'])

/** Newest first, as the interface sorts them; its times have no zone, so they are an order and no moments. */
function fromInterface(
  names: readonly string[],
  rows: readonly TableLine[],
  options: ImportOptions,
): TrackedExperiment[] {
  const ignored = toldColumns(options, 'ignore')
  const others = names.filter(name => !fields.has(name) && !name.startsWith('mlflow.') && !ignored.includes(name))
  const value = (row: TableLine, name: string) => row.cells[names.indexOf(name)] ?? ''
  const told = { metrics: toldMetrics(options), options: toldColumns(options, 'option') }
  const kinds = columnKinds(others, name => rows.map(row => value(row, name)), told)
  const inTime = rows.toSorted((a, b) => (value(a, 'Start Time') < value(b, 'Start Time') ? -1 : 1))
  const runs = inTime.map((row): MlflowRun => {
    const filled = (columns: readonly string[]) => columns.filter(name => value(row, name) !== '')
    return {
      id: value(row, 'Run ID'),
      name: value(row, 'Name') || null,
      status: value(row, 'Status') || null,
      isDeleted: false,
      startedAt: null,
      endedAt: null,
      sourceVersion: null,
      params: new Map(filled(kinds.options).map(name => [name, value(row, name)])),
      tags: new Map(),
      metrics: new Map(filled(kinds.metrics).map(name => [name, Number(value(row, name))])),
    }
  })
  const experiment = trackedMlflow({ name: null, tags: new Map(), runs }, withToldMetric(options))
  return [{ ...experiment, guesses: [columnsGuess(kinds), ...experiment.guesses] }]
}

/** As pandas writes a moment: `2023-11-14 22:13:20.500000+00:00`. */
function millisecondsIn(cell: string): number | null {
  const moment = momentIn(cell)
  return moment === null ? null : Date.parse(moment)
}
