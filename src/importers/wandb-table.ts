/**
 * Tables that people export of W&B: the CSV of the runs page, and the CSV that the documented script of its interface writes, with
 * Python's text of whole dictionaries in its cells. The CSV of a chart has curves and no runs, and is refused.
 */
import { isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { readDelimited } from './delimited.ts'
import type { UnusableRow } from './history.ts'
import type { ImportOptions, Source } from './importer.ts'
import { readPythonScalar, readPythonValue } from './python-value.ts'
import { beginningOf, textOf } from './source.ts'
import type { TableLine } from './table.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { columnKinds, columnsGuess, toldColumns, toldMetrics, withToldMetric } from './tracker-columns.ts'
import { unusableRow } from './unusable-row.ts'
import { momentIn } from './value.ts'
import { numbersIn, trackedWandb, type WandbRun } from './wandb-run.ts'

type Kind = 'runs page' | 'script' | 'chart'

export function isWandbTable(source: Source): boolean {
  return source.kind === 'file' && /\.csv$/i.test(source.name) && kindOf(rowsOf(beginningOf(source))[0]) !== null
}

/** Throws a sentence where the table is that of a chart, or none of W&B. */
export async function readWandbTable(source: Source, options: ImportOptions): Promise<TrackedExperiment[]> {
  const [header, ...rows] = rowsOf(await textOf(source))
  const kind = kindOf(header)
  if (kind === 'chart') {
    throw new Error(
      `${source.name} is the export of a chart: a curve a column, and nothing of what was set; export the table of runs instead (on the runs page: download, CSV)`,
    )
  }
  if (!header || kind === null) {
    throw new Error(
      `${source.name} has not the columns of a table of W&B's runs (Name and State, or config and summary)`,
    )
  }
  const table = { names: header.cells, rows }
  return kind === 'script' ? fromScript(table, options) : fromRunsPage(table, options)
}

interface Table {
  readonly names: readonly string[]
  readonly rows: readonly TableLine[]
}

function rowsOf(text: string): readonly TableLine[] {
  return readDelimited(text.replace(/^\uFEFF/, ''), ',')
}

/** Columns that the runs page has for every run, whatever was logged; most are not read, least of all those that say who and where. */
const fields = new Set(
  (
    'name,state,notes,user,tags,created,runtime,sweep,id,group,job type,host,hostname,updated,last updated,end time,agent,commit,git commit,' +
    'github,command,program,os,python version,gpu type,gpu count,cpu count,created by,username'
  ).split(','),
)

function kindOf(header: TableLine | undefined): Kind | null {
  const names = (header?.cells ?? []).map(normal)
  const has = (...wanted: string[]) => wanted.every(name => names.includes(name))
  if (has('config', 'summary')) return 'script'
  const usual = ['notes', 'user', 'tags', 'created', 'runtime', 'sweep', 'id'].filter(name => names.includes(name))
  if (has('name', 'state') && usual.length >= 2) return 'runs page'
  const isAxis = /^(step|_step|relative time.*|wall time|time|epoch)$/.test(names[0] ?? '')
  return isAxis && names.slice(1).some(name => / - /.test(name)) ? 'chart' : null
}

function fromRunsPage({ names, rows }: Table, options: ImportOptions): TrackedExperiment[] {
  const indices = new Map(names.map((name, index) => [name, index]))
  const field = new Map(names.map((name, index) => [normal(name), index]))
  const cell = (row: TableLine, name: string) => row.cells[field.get(name) ?? -1] ?? ''
  const ignored = toldColumns(options, 'ignore')
  const others = names.filter(name => !fields.has(normal(name)) && !ignored.includes(name))
  const told = { metrics: toldMetrics(options), options: toldColumns(options, 'option') }
  const kinds = columnKinds(others, name => rows.map(row => row.cells[indices.get(name)!] ?? ''), told)
  const count = new Map<string, number>()
  const runs = rows.map((row): WandbRun => {
    const value = (name: string) => row.cells[indices.get(name)!] ?? ''
    const created = momentIn(cell(row, 'created'))
    const set = kinds.options.filter(name => value(name) !== '')
    const measured = kinds.metrics.filter(name => value(name) !== '')
    return {
      id: cell(row, 'id') || repeated(cell(row, 'name'), count),
      project: null,
      name: cell(row, 'name') || null,
      notes: cell(row, 'notes').replace(/^-$/, '') || null,
      tags: cell(row, 'tags')
        .split(',')
        .map(tag => tag.trim())
        .filter(tag => tag !== ''),
      state: cell(row, 'state').toLowerCase() || null,
      exitCode: null,
      config: Object.fromEntries(set.map(name => [name, readPythonScalar(value(name))])),
      summary: new Map(measured.map(name => [name, numberOf(value(name))])),
      history: new Map(),
      goals: new Map(),
      summaries: new Map(),
      startedAt: created === null ? null : Date.parse(created),
      seconds: Number(cell(row, 'runtime')) || null,
      commit: cell(row, 'commit') || cell(row, 'git commit') || null,
      personal: options.keepPersonal ? personalIn(cell(row, 'user'), cell(row, 'host') || cell(row, 'hostname')) : null,
    }
  })
  return trackedWandb(runs, [columnsGuess(kinds)], withToldMetric(options))
}

function fromScript({ names, rows }: Table, options: ImportOptions): TrackedExperiment[] {
  const field = new Map(names.map((name, index) => [normal(name), index]))
  const cell = (row: TableLine, name: string) => row.cells[field.get(name) ?? -1] ?? ''
  const count = new Map<string, number>()
  const unusable: UnusableRow[] = []
  const runs: WandbRun[] = []
  for (const row of rows) {
    const name = cell(row, 'name')
    const [config, summary] = [objectIn(cell(row, 'config')), objectIn(cell(row, 'summary'))]
    if (config === null || summary === null) {
      const which = config === null ? 'config' : 'summary'
      unusable.push(unusableRow(`line ${row.line}`, `its ${which} is no dictionary that can be read`, cell(row, which)))
      continue
    }
    const numbers = numbersIn(summary)
    const [ended, seconds] = [numbers.get('_timestamp'), numbers.get('_runtime')]
    runs.push({
      id: cell(row, 'id') || repeated(name, count),
      project: cell(row, 'project') || null,
      name: name || null,
      notes: cell(row, 'notes') || null,
      tags: [],
      state: cell(row, 'state').toLowerCase() || null,
      exitCode: null,
      config,
      summary: numbers,
      history: new Map(),
      goals: new Map(),
      summaries: new Map(),
      startedAt: ended === undefined ? null : Math.round(1000 * (ended - (seconds ?? 0))),
      seconds: seconds ?? null,
      commit: null,
      personal: null,
    })
  }
  const guesses = runs.some(run => run.state === null)
    ? ['the table has no column state: every run counts as finished']
    : []
  const [first, ...others] = trackedWandb(runs, guesses, withToldMetric(options))
  if (!first && unusable[0]) throw new Error(`no run can be read: ${unusable[0].place}: ${unusable[0].reason}`)
  return first ? [{ ...first, unusable: [...first.unusable, ...unusable] }, ...others] : []
}

/** JSON as well: scripts that dump their cells properly write that. */
function objectIn(text: string): JsonObject | null {
  const value: Json | undefined = readPythonValue(text)
  return isJsonObject(value) ? value : null
}

/** W&B's names are not unique: the second `baseline` of a table is `baseline 2`. */
function repeated(name: string, count: Map<string, number>): string {
  const number = (count.get(name) ?? 0) + 1
  count.set(name, number)
  return number === 1 ? name : `${name} ${number}`
}

function numberOf(cell: string): number {
  return /^-?inf/i.test(cell) ? (cell.startsWith('-') ? -Infinity : Infinity) : Number(cell)
}

function personalIn(user: string, host: string): string | null {
  return [user && `user: ${user}`, host && `host: ${host}`].filter(said => said !== '').join('; ') || null
}

function normal(name: string): string {
  return name.trim().toLowerCase()
}
