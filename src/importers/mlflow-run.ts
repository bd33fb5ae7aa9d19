/**
 * What MLflow keeps of an experiment, wherever it keeps it (a database, a folder, a server), as a tracked experiment: parameters are the
 * configuration, a metric is its last value, nested runs take what their parent set. User, host, paths and arguments stay out.
 */
import type { OutcomeKind } from '../experiment/intervention.ts'
import type { Json, JsonObject } from '../experiment/json.ts'
import type { UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import { readPythonScalar } from './python-value.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { unusableRow } from './unusable-row.ts'

export interface MlflowRun {
  readonly id: string
  readonly name: string | null
  /** A word, or the number of one in old files; null is what a run has that never ended. */
  readonly status: string | number | null
  readonly isDeleted: boolean
  /** Milliseconds since 1970, UTC. */
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** The commit, where a field of its own has it (before MLflow 1.0). */
  readonly sourceVersion: string | null
  readonly params: ReadonlyMap<string, string>
  readonly tags: ReadonlyMap<string, string>
  /** Last value of each, and the lowest or highest of one where it was asked for; NaN and infinities too. */
  readonly metrics: ReadonlyMap<string, number>
}

export interface MlflowExperiment {
  readonly name: string | null
  readonly tags: ReadonlyMap<string, string>
  readonly runs: readonly MlflowRun[]
}

/** `--metric val_loss:min` asks for the lowest value a run ever logged; without a suffix the last one counts. */
export interface MetricChoice {
  readonly key: string
  readonly choice: 'min' | 'max'
  /** What the chosen value is called: `val_loss:min`. */
  readonly name: string
}

export function metricChoice(options: ImportOptions): MetricChoice | null {
  const match = /^(.+):(min|max)$/.exec(options.metric?.name ?? '')
  return match && { key: match[1]!, choice: match[2] as 'min' | 'max', name: match[0] }
}

const statusNames = ['', 'RUNNING', 'SCHEDULED', 'FINISHED', 'FAILED', 'KILLED']
const kinds: ReadonlyMap<string, OutcomeKind> = new Map([
  ['FINISHED', 'finished'],
  ['FAILED', 'crashed'],
  ['KILLED', 'cancelled'],
])

export function trackedMlflow(experiment: MlflowExperiment, options: ImportOptions): TrackedExperiment {
  const groups = groupsOf(experiment.runs)
  const runs: TrackedRun[] = []
  const unusable: UnusableRow[] = []
  let inheriting = 0
  // Otherwise in the order in which they were read.
  const inTime = experiment.runs.some(run => run.startedAt !== null)
    ? experiment.runs.toSorted(byTime)
    : experiment.runs
  for (const run of inTime) {
    const status = statusOf(run)
    const reason = run.isDeleted
      ? 'was deleted in MLflow'
      : groups.has(run.id)
        ? 'groups nested runs, which are read each on its own'
        : !kinds.has(status)
          ? `never ended, or runs still: its status is ${status}`
          : null
    if (reason !== null) {
      unusable.push(unusableRun(run, status, reason))
      continue
    }
    const parent = groups.get(run.tags.get('mlflow.parentRunId') ?? '')
    const params = parent ? withParent(run.params, parent.params) : run.params
    if (params.size > run.params.size) inheriting++
    runs.push(trackedRun(run, params, status, options))
  }
  return {
    name: experiment.name,
    description: experiment.tags.get('mlflow.note.content') ?? null,
    objective: objectiveOf(experiment, options),
    constraints: [],
    runs,
    unusable,
    guesses: guessesOf(runs, options, inheriting),
  }
}

function trackedRun(
  run: MlflowRun,
  params: ReadonlyMap<string, string>,
  status: string,
  options: ImportOptions,
): TrackedRun {
  const kind = kinds.get(status)!
  const tags = ownTags(run)
  return {
    id: run.id,
    name: run.name,
    place: placeOf(run),
    configuration: configurationOf(params),
    seed: null,
    kind,
    status,
    reason: kind === 'finished' ? null : `MLflow says ${status}`,
    metrics: Object.fromEntries([...run.metrics].filter(([, value]) => isFiniteValue(value))),
    notFinite: [...run.metrics].filter(([, value]) => !isFiniteValue(value)).map(([name]) => name),
    startedAt: moment(run.startedAt),
    finishedAt: moment(run.endedAt),
    seconds: run.startedAt === null || run.endedAt === null ? null : Math.max(0, run.endedAt - run.startedAt) / 1000,
    text: run.tags.get('mlflow.note.content')?.trim() || null,
    note: options.keepPersonal ? personalNote(run) : null,
    tags,
    isBaseline: tags.some(tag => /^baseline(=true|=1)?$/i.test(tag)),
    parent: null,
    diff: null,
    commit: run.tags.get('mlflow.source.git.commit') ?? (run.sourceVersion || null),
  }
}

/** The experiment's primary metric (AutoML and the user interface set it), unless the caller names another. */
function objectiveOf(experiment: MlflowExperiment, options: ImportOptions): TrackedExperiment['objective'] {
  if (options.metric) return { name: options.metric.name, direction: options.metric.direction ?? null }
  const name = experiment.tags.get('mlflow.experiment.primaryMetric.name')
  if (!name) return null
  const greater = experiment.tags.get('mlflow.experiment.primaryMetric.greaterIsBetter')?.toLowerCase()
  return { name, direction: greater === 'true' ? 'maximize' : greater === 'false' ? 'minimize' : null }
}

/** A sweep's outer run has several nested ones that set something themselves; a run with one, or with mere evaluations, is a run. */
function groupsOf(runs: readonly MlflowRun[]): ReadonlyMap<string, MlflowRun> {
  const settings = new Map<string, number>()
  for (const { params, tags } of runs) {
    const parent = tags.get('mlflow.parentRunId')
    if (parent && params.size > 0) settings.set(parent, (settings.get(parent) ?? 0) + 1)
  }
  return new Map(runs.filter(({ id }) => (settings.get(id) ?? 0) >= 2).map(run => [run.id, run]))
}

/** A parent's `best_lr` is what came out of its sweep, not what it set. */
function withParent(
  params: ReadonlyMap<string, string>,
  parent: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map([...[...parent].filter(([key]) => !/^best_/i.test(key)), ...params])
}

function configurationOf(params: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries([...params].map(([key, text]): [string, Json] => [key, readPythonScalar(text)]))
}

/** MLflow stores an infinity as the largest number there is, and its server says that number. */
export function isFiniteValue(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) < Number.MAX_VALUE
}

/** Tags that people set, MLflow's own left out, and those that say who and where. */
function ownTags(run: MlflowRun): string[] {
  return [...run.tags]
    .filter(([key]) => !key.startsWith('mlflow.') && !/(^|[._-])(user|username|host|hostname|e?mail)$/i.test(key))
    .map(([key, value]) => (value === '' ? key : `${key}=${value}`))
    .filter(tag => tag.length <= 60)
}

function personalNote(run: MlflowRun): string | null {
  const said = (['mlflow.user', 'mlflow.source.name'] as const).map(key => [key, run.tags.get(key)] as const)
  return said.flatMap(([key, value]) => (value ? [`${key}: ${value}`] : [])).join('; ') || null
}

function guessesOf(runs: readonly TrackedRun[], options: ImportOptions, inheriting: number): string[] {
  const choice = metricChoice(options)
  const value = choice
    ? `${choice.name} is the ${choice.choice === 'min' ? 'lowest' : 'highest'} value that a run logged; other metrics count by their last`
    : 'the value of a metric is the last one logged (by step, then time, then value); --metric NAME:min or NAME:max takes the lowest or highest'
  const inherited = `${inheriting} nested run${inheriting === 1 ? ' takes' : 's take'} parameters that only the run around ${inheriting === 1 ? 'it' : 'them'} has`
  return [...(runs.length > 0 ? [value] : []), ...(inheriting > 0 ? [inherited] : [])]
}

function unusableRun(run: MlflowRun, status: string, reason: string): UnusableRow {
  const text = `${run.name ?? run.id}: ${status}, ${run.params.size} parameters, ${run.metrics.size} metrics`
  return unusableRow(placeOf(run), reason, text)
}

function statusOf(run: MlflowRun): string {
  if (typeof run.status === 'number') return statusNames[run.status] || String(run.status)
  return run.status ? (statusNames[Number(run.status)] ?? run.status.toUpperCase()) : 'RUNNING'
}

function placeOf(run: MlflowRun): string {
  return `run ${run.id.slice(0, 8)}`
}

function moment(milliseconds: number | null): string | null {
  return milliseconds === null || !(Math.abs(milliseconds) <= 8.64e15) ? null : new Date(milliseconds).toISOString()
}

function byTime(a: MlflowRun, b: MlflowRun): number {
  return (a.startedAt ?? Infinity) - (b.startedAt ?? Infinity) || (a.id < b.id ? -1 : 1)
}
