/**
 * Optuna's SQLite storage (`sqlite:///study.db`), of any schema: columns and tables are taken as they are found.
 * Its enumerations are stored by name.
 */
import type { Direction } from '../experiment/environment.ts'
import type { Json } from '../experiment/json.ts'
import type { ImportOptions } from './importer.ts'
import { parameterValue } from './optuna-parameter.ts'
import { type OptunaStudy, type OptunaTrial, trackedStudy } from './optuna-study.ts'
import { parsePythonJson } from './python-json.ts'
import { isSqliteWith, openSqlite, type SqliteFile, type SqliteRow } from './sqlite-file.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'

export function isOptunaSqlite(path: string): boolean {
  return isSqliteWith(path, ['studies', 'trials', 'trial_params', 'trial_user_attributes'])
}

/** One for each study that has trials. Throws a sentence where the file cannot be read. */
export function readOptunaSqlite(path: string, options: ImportOptions): TrackedExperiment[] {
  using file = openSqlite(path)
  const read: TrackedExperiment[] = []
  let rows = 0
  for (const study of file.rows('select * from studies order by study_id')) {
    options.signal?.throwIfAborted()
    const known = readStudy(file, study)
    if (known.trials.length === 0) continue
    const tracked = trackedStudy(known, options)
    rows += tracked.runs.length + tracked.unusable.length
    options.progress?.(rows)
    read.push(tracked)
  }
  return read
}

function readStudy(file: SqliteFile, row: SqliteRow): OptunaStudy {
  const id = row['study_id']!
  const columns = 'study_id as owner, key, value_json'
  const attributes = (table: string) =>
    membersOf(attributesIn(file, table, `select ${columns} from ${table} where study_id = ?`, id), id)
  return {
    name: String(row['study_name']),
    directions: directionsOf(file, row),
    userAttributes: attributes('study_user_attributes'),
    systemAttributes: attributes('study_system_attributes'),
    trials: readTrials(file, id),
  }
}

/** A column of the study before Optuna 2.4, a table of their own since. */
function directionsOf(file: SqliteFile, study: SqliteRow): (Direction | null)[] {
  if (!file.tables.has('study_directions')) return [directionIn(study['direction'])]
  const query = 'select direction from study_directions where study_id = ? order by objective'
  return Array.from(file.rows(query, study['study_id']!), row => directionIn(row['direction']))
}

function directionIn(name: SqliteRow[string] | undefined): Direction | null {
  return name === 'MINIMIZE' ? 'minimize' : name === 'MAXIMIZE' ? 'maximize' : null
}

function readTrials(file: SqliteFile, study: Key): OptunaTrial[] {
  const ofStudy = 'trial_id in (select trial_id from trials where study_id = ?)'
  const columns = 'trial_id as owner, key, value_json'
  const attributes = (table: string) =>
    attributesIn(file, table, `select ${columns} from ${table} where ${ofStudy}`, study)
  const user = attributes('trial_user_attributes')
  const system = attributes('trial_system_attributes')
  const parameters: Members<Json> = new Map()
  const damages = new Map<Key, string>()
  for (const row of file.rows(`select * from trial_params where ${ofStudy} order by param_id`, study)) {
    const name = String(row['param_name'])
    try {
      const value = parameterValue(name, Number(row['param_value']), String(row['distribution_json']))
      add(parameters, row['trial_id']!, name, value)
    } catch (error) {
      damages.set(row['trial_id']!, (error as Error).message)
    }
  }
  const values = valuesOf(file, ofStudy, study)
  const intermediates = lastOfPruned(file, study)
  const isUtc = hasMomentsInUtc(file)
  const trials = [...file.rows('select * from trials where study_id = ? order by trial_id', study)]
  return trials
    .map((row, index) => {
      const id = row['trial_id']!
      const [started, finished] = [momentOf(row['datetime_start']), momentOf(row['datetime_complete'])]
      // Before Optuna 1.2 the number stood among the system attributes.
      const number = row['number'] ?? (system.get(id)?.get('_number') as number | undefined) ?? index
      return {
        number: Number(number),
        state: String(row['state']),
        values: values.get(id) ?? (typeof row['value'] === 'number' ? [row['value']] : []),
        lastIntermediate: intermediates.get(id) ?? null,
        parameters: membersOf(parameters, id),
        userAttributes: membersOf(user, id),
        systemAttributes: membersOf(system, id),
        startedAt: isUtc ? (started?.toISOString() ?? null) : null,
        finishedAt: isUtc ? (finished?.toISOString() ?? null) : null,
        seconds: started && finished ? (finished.getTime() - started.getTime()) / 1000 : null,
        damage: damages.get(id) ?? null,
      }
    })
    .sort((a, b) => a.number - b.number)
}

/** Before Optuna 2.4 `trial_values` held what was reported on the way, and a trial's only value was a column of `trials`. */
function valuesOf(file: SqliteFile, ofStudy: string, study: Key): Map<Key, number[]> {
  const found = new Map<Key, number[]>()
  const columns = file.columnsOf('trial_values')
  if (!columns.has('objective')) return found
  const query = `select * from trial_values where ${ofStudy} order by objective`
  for (const row of file.rows(query, study)) {
    const values = found.get(row['trial_id']!) ?? []
    values[Number(row['objective'])] = numberOf(row['value'], row['value_type'])
    found.set(row['trial_id']!, values)
  }
  return found
}

/** What a pruned trial reported last. */
function lastOfPruned(file: SqliteFile, study: Key): Map<Key, { step: number; value: number }> {
  const table = file.columnsOf('trial_values').has('step') ? 'trial_values' : 'trial_intermediate_values'
  const columns = file.columnsOf(table)
  const value = columns.has('intermediate_value') ? 'intermediate_value' : 'value'
  const type = columns.has('intermediate_value_type') ? 'intermediate_value_type' : 'null'
  if (!columns.has('step')) return new Map()
  const ofPruned = "trial_id in (select trial_id from trials where study_id = ? and state = 'PRUNED')"
  // With a lone max, SQLite takes the other columns from the row that has it.
  const query = `select trial_id, max(step) as step, ${value} as value, ${type} as type from ${table} where ${ofPruned} group by trial_id`
  const rows = Array.from(file.rows(query, study))
  return new Map(
    rows.map(row => [row['trial_id']!, { step: Number(row['step']), value: numberOf(row['value'], row['type']) }]),
  )
}

/** Infinities and NaN are nulls with a type, since Optuna 3.0. */
function numberOf(value: SqliteRow[string] | undefined, type: SqliteRow[string] | undefined): number {
  if (type === 'INF_POS') return Number.POSITIVE_INFINITY
  if (type === 'INF_NEG') return Number.NEGATIVE_INFINITY
  return value === null || value === undefined ? Number.NaN : Number(value)
}

/** Moments have no zone. They are UTC since Optuna 5, and before it in the zone of a machine that we do not know. */
function hasMomentsInUtc(file: SqliteFile): boolean {
  if (!file.columnsOf('version_info').has('library_version')) return false
  const [version] = file.rows('select library_version from version_info')
  return Number.parseInt(String(version?.['library_version']), 10) >= 5
}

function momentOf(text: SqliteRow[string] | undefined): Date | null {
  if (typeof text !== 'string') return null
  const moment = new Date(`${text.replace(' ', 'T')}Z`)
  return Number.isNaN(moment.getTime()) ? null : moment
}

type Key = NonNullable<SqliteRow[string]>

/** By the study or trial that has them. */
type Members<Value> = Map<Key, Map<string, Value>>

function attributesIn(file: SqliteFile, table: string, query: string, id: Key): Members<unknown> {
  const found: Members<unknown> = new Map()
  if (!file.tables.has(table)) return found
  for (const row of file.rows(query, id)) add(found, row['owner']!, String(row['key']), valueIn(row['value_json']))
  return found
}

function valueIn(json: SqliteRow[string] | undefined): unknown {
  try {
    return parsePythonJson(String(json))
  } catch {
    return json
  }
}

function add<Value>(members: Members<Value>, owner: Key, name: string, value: Value): void {
  const found = members.get(owner)
  if (found) found.set(name, value)
  else members.set(owner, new Map([[name, value]]))
}

function membersOf<Value>(members: Members<Value>, owner: Key): Record<string, Value> {
  return Object.fromEntries(members.get(owner) ?? [])
}
