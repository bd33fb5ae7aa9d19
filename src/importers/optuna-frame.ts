/**
 * What `study.trials_dataframe().to_csv(…)` writes: a row a trial, of one study whose name and direction it does not have.
 */
import { readFileSync } from 'node:fs'
import type { Json } from '../experiment/json.ts'
import { readDelimited } from './delimited.ts'
import type { ImportOptions, Source } from './importer.ts'
import { type OptunaTrial, trackedStudy } from './optuna-study.ts'
import { readPythonScalar } from './python-value.ts'
import { beginningOf } from './source.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'

/** `value` of a single objective, `values_0` of several; with names `value_accuracy`, `values_accuracy`. */
const objective = /^values?(_(.+))?$/

export function isOptunaFrame(source: Source): boolean {
  if (source.kind !== 'file') return false
  const header = new Set(beginningOf(source).split(/\r?\n/, 1)[0]!.split(','))
  const hasObjective = [...header].some(name => objective.test(name))
  return hasObjective && ['number', 'datetime_start', 'state'].every(name => header.has(name))
}

export function readOptunaFrame(source: Source & { readonly kind: 'file' }, options: ImportOptions): TrackedExperiment {
  const [header, ...rows] = readDelimited(readFileSync(source.path, 'utf8').replace(/^\uFEFF/, ''), ',')
  const columns = header!.cells
  const objectives = columns.filter(name => objective.test(name))
  const names = objectives.map(name => objective.exec(name)![2] ?? '')
  const isNamed = names.every(name => name !== '' && !/^\d+$/.test(name))
  const trials = rows.map(({ cells }) => trialOf(columns, cells, objectives))
  const systemAttributes = isNamed ? { 'study:metric_names': names } : {}
  const directions = objectives.map(() => null)
  return trackedStudy({ name: null, directions, userAttributes: {}, systemAttributes, trials }, options)
}

function trialOf(columns: readonly string[], cells: readonly string[], objectives: readonly string[]): OptunaTrial {
  const cell = (name: string) => cells[columns.indexOf(name)] ?? ''
  const values = objectives.map(cell)
  const [started, finished] = [cell('datetime_start'), cell('datetime_complete')].map(momentOf)
  return {
    number: Number(cell('number')),
    state: cell('state'),
    values: values.every(value => value === '') ? [] : values.map(numberOf),
    lastIntermediate: null,
    parameters: withPrefix('params_', columns, cells),
    userAttributes: withPrefix('user_attrs_', columns, cells),
    systemAttributes: withPrefix('system_attrs_', columns, cells),
    // The zone depends on Optuna's version and its machine.
    startedAt: null,
    finishedAt: null,
    seconds: started && finished ? (finished - started) / 1000 : null,
    damage: null,
  }
}

/** An empty cell is what a trial does not have. Whole numbers have a `.0` where another trial lacks one. */
function withPrefix(prefix: string, columns: readonly string[], cells: readonly string[]): Record<string, Json> {
  const own = columns.flatMap((name, index): [string, Json][] => {
    const cell = cells[index] ?? ''
    return name.startsWith(prefix) && cell !== '' ? [[name.slice(prefix.length), readPythonScalar(cell)]] : []
  })
  return Object.fromEntries(own)
}

/** Pandas writes infinities as `inf`. */
function numberOf(cell: string): number {
  return cell === '' ? Number.NaN : Number(cell.replace(/^(-?)inf$/, '$1Infinity'))
}

/** As if it were UTC: only differences mean something. */
function momentOf(cell: string): number | null {
  const moment = Date.parse(`${cell.replace(' ', 'T')}Z`)
  return Number.isNaN(moment) ? null : moment
}
