/**
 * Which columns of a table that a tracker exported were set and which were measured. Such tables do not say, so this is a guess by names
 * and by what stands in the columns.
 */
import { isSetting } from './column-names.ts'
import { directionOfName } from './direction.ts'
import type { ImportOptions } from './importer.ts'
import { numberIn } from './value.ts'

export interface ColumnKinds {
  readonly options: readonly string[]
  readonly metrics: readonly string[]
}

const results = /(^|[/._])(train|val|valid|validation|eval|test|best|final|metrics?)[/._]/i
/** Named like a result in part (`size`, `loss`), but set by somebody. */
const settings = /(_size|_weight|_decay|_coef|_coeff|_lambda|_type|_name|_fn|_steps|_rate|_dim|_length)$/i

/** How far a run came, which tells how it ended: nobody sets the last epoch. */
const reached = /(^|[/._])(epoch|step|global_step|iteration)$/i

/** `cells`: the cells of a column in all rows. `told`: what the caller says. */
export function columnKinds(
  names: readonly string[],
  cells: (name: string) => readonly string[],
  told: ColumnKinds,
): ColumnKinds {
  // `_step`, `_runtime` and the like are the tracker's own.
  const own = names.filter(name => !name.startsWith('_') && cells(name).some(cell => cell !== ''))
  const metrics = own.filter(
    name => told.metrics.includes(name) || (!told.options.includes(name) && looksMeasured(name, cells(name))),
  )
  return { options: own.filter(name => !metrics.includes(name)), metrics }
}

function looksMeasured(name: string, cells: readonly string[]): boolean {
  const values = cells.filter(cell => cell !== '')
  if (!values.every(value => numberIn(value) !== null || /^-?(nan|inf|infinity)$/i.test(value))) return false
  if (reached.test(name)) return true
  if (isSetting(name) || settings.test(name)) return false
  if (results.test(name) || directionOfName(name) !== null) return true
  // Nobody sets 0.483729105, and hardly anybody sets another value in every run.
  const isFine = values.some(value => /\.\d{6,}/.test(value))
  return isFine && new Set(values).size > 0.5 * values.length
}

/** The guess, as a sentence without its full stop. */
export function columnsGuess({ metrics, options }: ColumnKinds): string {
  return `the table does not say which columns are results: ${list(metrics)} count as results, ${list(options)} as what was set`
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

/** The columns that the caller says are of this role; several stand in lines. */
export function toldColumns(
  { columns, metric }: ImportOptions,
  role: 'metric' | 'measurement' | 'option' | 'ignore',
): readonly string[] {
  const names = columns?.[role]?.split('\n') ?? []
  return role === 'metric' && metric ? [...names, metric.name] : names
}

/** The objective, and what was measured beside it. */
export function toldMetrics(options: ImportOptions): readonly string[] {
  return [...toldColumns(options, 'metric'), ...toldColumns(options, 'measurement')]
}

/** A column that is said to hold the metric is the objective. */
export function withToldMetric(options: ImportOptions): ImportOptions {
  const name = options.columns?.['metric']?.split('\n')[0]
  return options.metric || name === undefined ? options : { ...options, metric: { name } }
}
