/**
 * Ax's JSON: the snapshot of a client (`ax_client_snapshot.json`) or a saved experiment. Each arm of a trial is a run; the status quo is
 * the reference. What Ax says of a trial that failed is that it may be tried again, and of an abandoned one that it should not be.
 */
import { readFileSync } from 'node:fs'
import { canonicalJson, type JsonObject } from '../experiment/json.ts'
import { type ArmMeans, meansByArm } from './ax-data.ts'
import { axGoal } from './ax-goal.ts'
import { type AxObject, listIn, nameIn, objectIn, plainIn, timeIn } from './ax-value.ts'
import type { UnusableRow } from './history.ts'
import type { Importer, Source } from './importer.ts'
import { asJson, parsePythonJson } from './python-json.ts'
import { beginningOf } from './source.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'
import { unusableRow } from './unusable-row.ts'

export const axJson: Importer = {
  name: 'ax',
  title: 'Ax (JSON)',
  takes: ['reference'],
  recognises: source => /^\s*\{\s*"_{1,2}type": ?"(Ax)?(Client|\w*Experiment)"/.test(beginningOf(source)),
  read: async (source, options) => trackedHistories([readAxJson(source)], source.name, options),
}

/** Throws a sentence where the file is nothing of Ax. */
export function readAxJson(source: Source): TrackedExperiment {
  const experiment = experimentIn(source)
  const goal = axGoal(objectIn(experiment['optimization_config']))
  const statusQuo = objectIn(experiment['status_quo'])
  const means = meansByArm(experiment['data_by_trial'])
  const arms = Object.values(objectIn(experiment['trials']) ?? {}).flatMap(trial => armsOf(objectIn(trial) ?? {}))
  arms.sort((a, b) => a.index - b.index)
  const isStatusQuo = (arm: Arm) =>
    statusQuo !== null && canonicalJson(arm.parameters) === canonicalJson(parametersOf(statusQuo))
  const runs: TrackedRun[] = []
  const unusable: UnusableRow[] = []
  for (const arm of arms) {
    const end = endOf(arm, means.has(keyOf(arm)))
    if ('unusable' in end) unusable.push(unusableRow(placeOf(arm), end.unusable, canonicalJson(arm.parameters)))
    else runs.push(runOf(arm, end, means.get(keyOf(arm)), isStatusQuo(arm)))
  }
  const { name, description } = experiment
  return {
    name: typeof name === 'string' ? name : null,
    description: typeof description === 'string' ? description : null,
    objective: goal.objective,
    constraints: goal.constraints,
    runs,
    unusable,
    guesses: goal.guesses,
  }
}

function experimentIn(source: Source): AxObject {
  if (source.kind !== 'file') throw new Error(`${source.name} is not a file; name the JSON of Ax`)
  let root: AxObject | null
  try {
    root = objectIn(parsePythonJson(readFileSync(source.path, 'utf8')))
  } catch (cause) {
    throw new Error(`${source.name} is not JSON as a whole: ${(cause as Error).message}`, { cause })
  }
  const experiment = objectIn(root?.['experiment']) ?? root
  if (objectIn(experiment?.['trials']) !== null) return experiment!
  throw new Error(`${source.name} has no experiment of Ax with "trials"`)
}

interface Arm {
  readonly index: number
  readonly name: string
  readonly parameters: JsonObject
  /** Ax's name of the trial's status, or ABANDONED for an arm that was abandoned alone. */
  readonly status: string
  readonly why: string | null
  readonly seconds: number | null
  readonly isAlone: boolean
}

function armsOf(trial: AxObject): Arm[] {
  const made = listIn(trial['generator_runs'] ?? [trial['generator_run']])
  // Before 0.5 a batch wrapped each generator run together with its weight.
  const runs = made.map(each => objectIn(objectIn(each)?.['generator_run']) ?? objectIn(each) ?? {})
  const own = runs.flatMap(run => listIn(run['arms'])).concat(trial['status_quo'] ?? [])
  const abandoned = objectIn(trial['abandoned_arms_metadata']) ?? {}
  const [from, to] = [
    timeIn(trial['time_run_started']) ?? timeIn(trial['time_created']),
    timeIn(trial['time_completed']),
  ]
  const reason = trial['status_reason']
  const found = own.map((written, position): Arm => {
    const arm = objectIn(written) ?? {}
    const name = nameIn(arm) ?? `${trial['index']}_${position}`
    const alone = objectIn(abandoned[name])
    return {
      index: Number(trial['index']),
      name,
      parameters: parametersOf(arm),
      status: alone ? 'ABANDONED' : (nameIn(trial['status']) ?? ''),
      why: [alone?.['reason'], reason].find(text => typeof text === 'string') ?? null,
      seconds: from === null || to === null ? null : (to - from) / 1000,
      isAlone: own.length === 1,
    }
  })
  // The status quo of a batch may stand among its arms as well.
  return found.filter((arm, position) => found.findIndex(({ name }) => name === arm.name) === position)
}

function parametersOf(arm: AxObject): JsonObject {
  const parameters = Object.entries(objectIn(arm['parameters']) ?? {})
  return Object.fromEntries(parameters.map(([name, value]) => [name, asJson(plainIn(value))]))
}

type End = Pick<TrackedRun, 'kind' | 'reason'>

function endOf({ status, why, parameters }: Arm, hasData: boolean): End | { readonly unusable: string } {
  if (Object.keys(parameters).length === 0) return { unusable: 'has no parameters: nothing says what was tried' }
  switch (status) {
    case 'CANDIDATE':
    case 'STALE':
      return { unusable: `was not run: its status is ${status}` }
    case 'STAGED':
    case 'RUNNING':
    case 'DISPATCHED':
      return { unusable: `had not ended when this was written: its status is ${status}` }
    case 'FAILED':
      return { kind: 'infrastructure', reason: why ?? 'failed in a way that may be tried again; Ax does not say how' }
    case 'ABANDONED':
      return { kind: 'crashed', reason: why ?? 'abandoned as not to be tried again; Ax does not say why' }
    case 'EARLY_STOPPED':
      return { kind: 'timed-out', reason: why ?? 'stopped early for being behind' }
    case 'COMPLETED':
      return hasData ? { kind: 'finished', reason: null } : { unusable: 'is completed, but has no data' }
    default:
      return { unusable: `unknown status "${status}"` }
  }
}

function runOf(arm: Arm, { kind, reason }: End, measured: ArmMeans | undefined, isBaseline: boolean): TrackedRun {
  const means = Object.entries(kind === 'finished' ? measured! : {})
  return {
    id: keyOf(arm),
    name: /^\d+_\d+$/.test(arm.name) ? null : arm.name,
    place: placeOf(arm),
    configuration: arm.parameters,
    seed: null,
    kind,
    status: arm.status,
    reason,
    metrics: Object.fromEntries(means.filter(([, mean]) => Number.isFinite(mean))),
    notFinite: means.filter(([, mean]) => !Number.isFinite(mean)).map(([name]) => name),
    startedAt: null,
    finishedAt: null,
    seconds: arm.isAlone ? arm.seconds : null,
    text: null,
    note: null,
    tags: [],
    isBaseline,
    parent: null,
    diff: null,
    commit: null,
  }
}

function keyOf({ index, name }: Pick<Arm, 'index' | 'name'>): string {
  return `${index} ${name}`
}

function placeOf({ index, name, isAlone }: Arm): string {
  return isAlone ? `trial ${index}` : `trial ${index}, arm ${name}`
}
