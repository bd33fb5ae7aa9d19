/**
 * The runs in a Trackio database: what each set, and the last value of everything it logged. JSON stands in it as text or as
 * bytes; numbers that are not finite are words there.
 */
import { isJsonObject, type JsonObject } from '../experiment/json.ts'
import type { ImportOptions } from './importer.ts'
import { type MetricChoice, metricChoice } from './mlflow-run.ts'
import { asJson, parsePythonJson } from './python-json.ts'
import { type SqliteFile, type SqliteRow, textOf } from './sqlite-file.ts'
import { momentIn } from './value.ts'

export interface LoggedRun {
  readonly id: string
  readonly name: string
  configuration: JsonObject
  group: string | null
  startedAt: string | null
  lastAt: string | null
  /** One more than its last step. */
  steps: number
  /** The last value of each metric, with its step; it may be NaN or infinite. */
  readonly last: Map<string, { readonly step: number; readonly value: number }>
  /** What it was warned of, one sentence each. */
  readonly alerts: string[]
}

/** In the order in which they first logged something. */
export function loggedRuns(file: SqliteFile, options: ImportOptions): LoggedRun[] {
  const runs = new Map<string, LoggedRun>()
  const choice = metricChoice(options)
  let rows = 0
  for (const row of rowsOf(file, 'metrics')) {
    if (++rows % 10_000 === 0) {
      options.signal?.throwIfAborted()
      options.progress?.(rows)
    }
    addMetrics(runOfRow(runs, row), row, choice)
  }
  for (const row of rowsOf(file, 'configs')) addConfiguration(runOfRow(runs, row), objectIn(row['config']))
  for (const row of file.tables.has('alerts') ? rowsOf(file, 'alerts') : []) {
    const text = [textOf(row['title']), textOf(row['text'])].filter(part => part !== '').join(': ')
    runOfRow(runs, row).alerts.push(`alert (${textOf(row['level'])}): ${text}`)
  }
  return [...runs.values()]
}

/** Before Trackio 0.24 runs were told apart by their names alone. */
function rowsOf(file: SqliteFile, table: string): Iterable<SqliteRow> {
  const identity = file.columnsOf(table).has('run_id') ? 'run_id' : 'run_name'
  return file.rows(`select *, ${identity} as run from ${table} order by id`)
}

function runOfRow(runs: Map<string, LoggedRun>, row: SqliteRow): LoggedRun {
  const id = textOf(row['run'])
  const known = runs.get(id)
  if (known) return known
  const empty = { configuration: {}, group: null, startedAt: null, lastAt: null, steps: 0 }
  const run: LoggedRun = { id, name: textOf(row['run_name']), ...empty, last: new Map(), alerts: [] }
  runs.set(id, run)
  return run
}

function addMetrics(run: LoggedRun, row: SqliteRow, choice: MetricChoice | null): void {
  const step = Number(row['step'])
  const moment = momentIn(textOf(row['timestamp']))
  run.startedAt ??= moment
  run.lastAt = moment ?? run.lastAt
  run.steps = Math.max(run.steps, step + 1)
  for (const [name, written] of Object.entries(objectIn(row['metrics']))) {
    const value = numberIn(written)
    if (value === null) continue
    if (step >= (run.last.get(name)?.step ?? Number.NEGATIVE_INFINITY)) run.last.set(name, { step, value })
    if (name !== choice?.key || !Number.isFinite(value)) continue
    const best = run.last.get(choice.name)?.value ?? value
    run.last.set(choice.name, { step, value: choice.choice === 'min' ? Math.min(best, value) : Math.max(best, value) })
  }
}

/** Trackio's own entries begin with an underscore; one of them is the user's name. */
function addConfiguration(run: LoggedRun, configuration: Readonly<Record<string, unknown>>): void {
  const { _Created: created, _Group: group } = configuration
  const own = Object.entries(configuration).filter(([name]) => !name.startsWith('_'))
  run.configuration = asJson(Object.fromEntries(own)) as JsonObject
  run.group = typeof group === 'string' ? group : null
  run.startedAt = (typeof created === 'string' ? momentIn(created) : null) ?? run.startedAt
}

/** Empty for what is no object. */
function objectIn(json: SqliteRow[string] | undefined): Readonly<Record<string, unknown>> {
  try {
    const value = parsePythonJson(textOf(json)) as JsonObject
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

function numberIn(written: unknown): number | null {
  if (typeof written === 'number') return written
  return typeof written === 'string' && /^(NaN|-?Infinity)$/.test(written) ? Number(written) : null
}
