/**
 * MLflow's SQLite database (`mlflow.db`), of any version: columns and tables are taken as they are found. Deleted experiments and those
 * without runs are left out.
 */
import type { ImportOptions } from './importer.ts'
import { isFiniteValue, type MetricChoice, type MlflowRun, metricChoice, trackedMlflow } from './mlflow-run.ts'
import { isSqliteWith, openSqlite, type SqliteFile, type SqliteRow } from './sqlite-file.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'

export function isMlflowSqlite(path: string): boolean {
  return isSqliteWith(path, ['experiments', 'runs', 'params', 'metrics', 'tags'])
}

/** One for each experiment. Throws a sentence where the file cannot be read. */
export function readMlflowSqlite(path: string, options: ImportOptions): TrackedExperiment[] {
  using file = openSqlite(path)
  const read: TrackedExperiment[] = []
  let rows = 0
  for (const experiment of file.rows('select * from experiments order by experiment_id')) {
    options.signal?.throwIfAborted()
    const name = text(experiment['name'])
    if (experiment['lifecycle_stage'] === 'deleted') continue
    const id = experiment['experiment_id']!
    const runs = runsOf(file, id, metricChoice(options))
    if (runs.length === 0) continue
    rows += runs.length
    options.progress?.(rows)
    const tags = new Map<string, string>()
    if (file.tables.has('experiment_tags')) {
      const query = 'select key, value from experiment_tags where experiment_id = ?'
      for (const row of file.rows(query, id)) tags.set(String(row['key']), text(row['value']) ?? '')
    }
    read.push(trackedMlflow({ name, tags, runs }, options))
  }
  return read
}

type Value = SqliteRow[string]

const ofExperiment = 'run_uuid in (select run_uuid from runs where experiment_id = ?)'

function runsOf(file: SqliteFile, experiment: NonNullable<Value>, choice: MetricChoice | null): MlflowRun[] {
  const params = textsOf(file, 'params', experiment)
  const tags = textsOf(file, 'tags', experiment)
  const metrics = lastMetrics(file, experiment)
  if (choice) {
    for (const [run, value] of chosenMetrics(file, experiment, choice)) metrics.of(run).set(choice.name, value)
  }
  return Array.from(file.rows('select * from runs where experiment_id = ?', experiment), row => {
    const id = String(row['run_uuid'])
    return {
      id,
      name: text(row['name']) ?? tags.of(id).get('mlflow.runName') ?? null,
      status: text(row['status']),
      isDeleted: row['lifecycle_stage'] === 'deleted',
      startedAt: number(row['start_time']),
      endedAt: number(row['end_time']),
      sourceVersion: text(row['source_version']),
      params: params.of(id),
      tags: tags.of(id),
      metrics: metrics.of(id),
    }
  })
}

function textsOf(file: SqliteFile, table: 'params' | 'tags', experiment: NonNullable<Value>): ByRun<string> {
  const found = new ByRun<string>()
  for (const row of file.rows(`select * from ${table} where ${ofExperiment}`, experiment)) {
    found.of(String(row['run_uuid'])).set(String(row['key']), text(row['value']) ?? '')
  }
  return found
}

/** MLflow keeps them in a table of their own; databases before 1.2 lack it. */
function lastMetrics(file: SqliteFile, experiment: NonNullable<Value>): ByRun<number> {
  const found = new ByRun<number>()
  if (file.tables.has('latest_metrics')) {
    for (const row of file.rows(`select * from latest_metrics where ${ofExperiment}`, experiment)) {
      found.of(String(row['run_uuid'])).set(String(row['key']), valueIn(row))
    }
    return found
  }
  // By (step, timestamp, value), as MLflow does it.
  const orders = new ByRun<readonly number[]>()
  for (const row of file.rows(`select * from metrics where ${ofExperiment}`, experiment)) {
    const [run, key] = [String(row['run_uuid']), String(row['key'])]
    const value = valueIn(row)
    const order = [number(row['step']) ?? 0, number(row['timestamp']) ?? 0, Number.isNaN(value) ? -Infinity : value]
    const before = orders.of(run).get(key)
    if (before && !isLater(order, before)) continue
    orders.of(run).set(key, order)
    found.of(run).set(key, value)
  }
  return found
}

function isLater(order: readonly number[], before: readonly number[]): boolean {
  const differing = order.findIndex((value, index) => value !== before[index])
  return differing >= 0 && order[differing]! > before[differing]!
}

function chosenMetrics(
  file: SqliteFile,
  experiment: NonNullable<Value>,
  { key, choice }: MetricChoice,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const row of file.rows(`select * from metrics where key = ? and ${ofExperiment}`, key, experiment)) {
    const run = String(row['run_uuid'])
    const value = valueIn(row)
    const before = found.get(run)
    if (!isFiniteValue(value)) continue
    if (before === undefined || (choice === 'min' ? value < before : value > before)) found.set(run, value)
  }
  return found
}

/** MLflow stores NaN as 0 with a flag. */
function valueIn(row: SqliteRow): number {
  const value = number(row['value'])
  return value === null || Number(row['is_nan'] ?? 0) === 1 ? Number.NaN : value
}

class ByRun<Value> {
  readonly #maps = new Map<string, Map<string, Value>>()

  of(run: string): Map<string, Value> {
    const found = this.#maps.get(run) ?? new Map<string, Value>()
    this.#maps.set(run, found)
    return found
  }
}

function text(value: Value | undefined): string | null {
  return value === undefined || value === null || value === '' ? null : String(value)
}

function number(value: Value | undefined): number | null {
  const found = text(value)
  return found === null || !Number.isFinite(Number(found)) ? null : Number(found)
}
