/**
 * What W&B keeps of a run, wherever it keeps it (a log, files beside it, a table), as a tracked run. The `_wandb` part of a configuration,
 * media and tables stay out, and so do user, host, paths and arguments.
 */
import type { Direction } from '../experiment/environment.ts'
import type { OutcomeKind } from '../experiment/intervention.ts'
import type { JsonObject } from '../experiment/json.ts'
import type { UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { unusableRow } from './unusable-row.ts'

/** Last, lowest and highest of what a run logged of one metric; the last may be NaN or infinite. */
export interface LoggedMetric {
  readonly last: number
  readonly min: number | null
  readonly max: number | null
}

export interface WandbRun {
  readonly id: string
  readonly project: string | null
  readonly name: string | null
  readonly notes: string | null
  readonly tags: readonly string[]
  /** `finished`, `crashed`, `failed`, `killed`, …; null where nothing says. */
  readonly state: string | null
  readonly exitCode: number | null
  readonly config: JsonObject
  /** By dotted path; numbers alone, NaN and infinities too. */
  readonly summary: ReadonlyMap<string, number>
  readonly history: ReadonlyMap<string, LoggedMetric>
  /** What `define_metric` says of a metric: its goal, and which of its values counts. */
  readonly goals: ReadonlyMap<string, Direction>
  readonly summaries: ReadonlyMap<string, 'min' | 'max' | 'best'>
  /** Milliseconds since 1970, UTC. */
  readonly startedAt: number | null
  readonly seconds: number | null
  readonly commit: string | null
  /** Who, where and with which arguments; read only where it was asked for. */
  readonly personal: string | null
}

const kinds: ReadonlyMap<string, OutcomeKind> = new Map([
  ['finished', 'finished'],
  ['crashed', 'crashed'],
  ['failed', 'crashed'],
  ['killed', 'cancelled'],
  ['preempted', 'infrastructure'],
])

/** One experiment a project; `guesses` are those of the reader. */
export function trackedWandb(
  runs: readonly WandbRun[],
  guesses: readonly string[],
  options: ImportOptions,
): TrackedExperiment[] {
  const byProject = Map.groupBy(runs, run => run.project)
  return Array.from(byProject, ([project, some]) => trackedProject(project, some, guesses, options))
}

function trackedProject(
  name: string | null,
  all: readonly WandbRun[],
  guesses: readonly string[],
  options: ImportOptions,
): TrackedExperiment {
  const objective = objectiveOf(all, options)
  const runs: TrackedRun[] = []
  const unusable: UnusableRow[] = []
  // Otherwise in the order in which they were read.
  const inTime = all.every(run => run.startedAt !== null) ? all.toSorted((a, b) => a.startedAt! - b.startedAt!) : all
  for (const run of inTime) {
    const kind = run.state === null ? 'finished' : kinds.get(run.state)
    if (kind !== undefined) runs.push(trackedRun(run, kind, options))
    else unusable.push(unusableRow(placeOf(run), `has not ended: W&B says ${run.state}`, run.name ?? run.id))
  }
  return {
    name,
    description: null,
    objective: objective && { name: objective.name, direction: objective.direction },
    constraints: [],
    runs,
    unusable,
    guesses: [...guesses, ...(objective?.guess ? [objective.guess] : [])],
  }
}

function trackedRun(run: WandbRun, kind: OutcomeKind, options: ImportOptions): TrackedRun {
  const metrics = metricsOf(run, options.metric?.name ?? '')
  const finished = run.startedAt === null || run.seconds === null ? null : run.startedAt + 1000 * run.seconds
  return {
    id: run.id,
    name: run.name,
    place: placeOf(run),
    configuration: withoutInternals(run.config),
    seed: null,
    kind,
    status: run.state,
    reason: kind === 'finished' ? null : reasonOf(run),
    metrics: Object.fromEntries([...metrics].filter(([, value]) => Number.isFinite(value))),
    notFinite: [...metrics].filter(([, value]) => !Number.isFinite(value)).map(([name]) => name),
    startedAt: moment(run.startedAt),
    finishedAt: moment(finished),
    seconds: run.seconds,
    text: run.notes?.trim() || null,
    note: run.personal,
    tags: run.tags,
    isBaseline: run.tags.some(tag => /^baseline$/i.test(tag)),
    parent: null,
    diff: null,
    commit: run.commit,
  }
}

/** The summary before the last logged value, as W&B shows it; `wanted` may ask for the lowest or highest value, `val_loss:min`. */
function metricsOf(run: WandbRun, wanted: string): ReadonlyMap<string, number> {
  const metrics = new Map<string, number>()
  for (const [name, { last }] of run.history) metrics.set(name, last)
  for (const [name, value] of run.summary) metrics.set(name, value)
  for (const name of metrics.keys()) if (name.startsWith('_')) metrics.delete(name)
  const [, key, choice] = /^(.+):(min|max)$/.exec(wanted) ?? []
  if (key === undefined) return metrics
  const value = run.history.get(key)?.[choice as 'min' | 'max'] ?? run.summary.get(`${key}.${choice}`)
  if (value !== undefined) metrics.set(wanted, value)
  return metrics
}

interface Objective {
  readonly name: string
  readonly direction: Direction | null
  readonly guess: string | null
}

/** What the caller names; else the one metric that the runs give a goal; else the one whose lowest or highest value they keep. */
function objectiveOf(runs: readonly WandbRun[], options: ImportOptions): Objective | null {
  if (options.metric) return { name: options.metric.name, direction: options.metric.direction ?? null, guess: null }
  const goals = new Map(runs.flatMap(run => [...run.goals]))
  const kept = new Map(runs.flatMap(run => [...run.summaries]))
  const [goal] = goals
  if (goal && goals.size === 1) {
    const [metric, direction] = goal
    return { name: kept.has(metric) ? `${metric}.${kept.get(metric)}` : metric, direction, guess: null }
  }
  const [summary] = kept
  if (!summary || kept.size !== 1 || summary[1] === 'best') return null
  const [metric, value] = summary
  return {
    name: `${metric}.${value}`,
    direction: value === 'min' ? 'minimize' : 'maximize',
    guess: `the metric is ${metric}.${value}: of ${metric} alone the runs keep the ${value === 'min' ? 'lowest' : 'highest'} value`,
  }
}

function reasonOf(run: WandbRun): string {
  if (run.exitCode !== null && run.exitCode !== 0) return `exit code ${run.exitCode}`
  return run.state === 'crashed' ? 'W&B lost it: it ended without saying so' : `W&B says ${run.state}`
}

function withoutInternals(config: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== '_wandb' && key !== 'wandb_version'))
}

/** As JSON of W&B or Python writes it. */
function notFinite(text: string): number {
  return /nan/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity
}

/** Numbers by dotted path; media (`_type`), texts and W&B's own part are left out. */
export function numbersIn(value: unknown, path = '', found = new Map<string, number>()): Map<string, number> {
  if (typeof value === 'number') found.set(path, value)
  else if (typeof value === 'string' && /^-?(nan|inf|infinity)$/i.test(value)) found.set(path, notFinite(value))
  else if (typeof value === 'object' && value !== null && !Array.isArray(value) && !('_type' in value)) {
    for (const [key, member] of Object.entries(value)) {
      if (path !== '' || key !== '_wandb') numbersIn(member, path === '' ? key : `${path}.${key}`, found)
    }
  }
  return found
}

function placeOf(run: WandbRun): string {
  return `run ${run.id}`
}

function moment(milliseconds: number | null): string | null {
  return milliseconds === null || !(Math.abs(milliseconds) <= 8.64e15) ? null : new Date(milliseconds).toISOString()
}
