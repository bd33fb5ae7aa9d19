/**
 * What an Optuna study says, whichever storage it came from: trials with their parameters, as runs with configurations.
 *
 * A pruned trial was stopped because it was behind others at the same step. It says that the idea did badly, and it has no
 * result: the value that Optuna stores for it is the last one reported on the way, so it counts as one that did not finish.
 * A trial that broke a constraint (any of its constraint values above 0) keeps its numbers and is a violated one.
 */
import type { Direction } from '../experiment/environment.ts'
import type { JsonObject } from '../experiment/json.ts'
import type { UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import { asJson } from './python-json.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { unusableRow } from './unusable-row.ts'

export interface OptunaTrial {
  readonly number: number
  /** Optuna's name of it, in capitals. */
  readonly state: string
  /** One for each objective, which may be infinite; empty where it has none. */
  readonly values: readonly number[]
  readonly lastIntermediate: { readonly step: number; readonly value: number } | null
  /** As the objective function saw them. */
  readonly parameters: JsonObject
  readonly userAttributes: Attributes
  readonly systemAttributes: Attributes
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly seconds: number | null
  /** Why what it says cannot be used; null as a rule. */
  readonly damage: string | null
}

export interface OptunaStudy {
  /** Null where the source does not have it. */
  readonly name: string | null
  /** One for each objective; null where it was not set. */
  readonly directions: readonly (Direction | null)[]
  readonly userAttributes: Attributes
  readonly systemAttributes: Attributes
  /** By number. */
  readonly trials: readonly OptunaTrial[]
}

type Attributes = Readonly<Record<string, unknown>>

export function trackedStudy(study: OptunaStudy, options: ImportOptions): TrackedExperiment {
  const names = objectiveNames(study)
  const objective = options.metric?.name ?? names[0]!
  const retried = new Set(study.trials.flatMap(retriedBy))
  const runs: TrackedRun[] = []
  const unusable: UnusableRow[] = []
  for (const trial of study.trials) {
    const ended = endOf(trial, retried)
    const configuration = configurationOf(trial)
    const nothing = Object.keys(configuration).length === 0 ? 'has no parameters: nothing says what was tried' : null
    const damage = trial.damage ?? nothing
    if ('unusable' in ended || damage !== null) {
      const reason = 'unusable' in ended ? ended.unusable : damage!
      unusable.push(unusableRow(placeOf(trial), reason, `${trial.state} ${JSON.stringify(configuration)}`))
    } else runs.push(runOf(trial, names, configuration, ended))
  }
  const direction = options.metric?.direction ?? study.directions[names.indexOf(objective)] ?? null
  return {
    name: study.name,
    description: written(study.userAttributes),
    objective: { name: objective, direction },
    constraints: [],
    runs,
    unusable,
    guesses: guessesOf(names, objective, runs),
  }
}

/** The names the study gives its objectives; otherwise those that Optuna's data frames use. */
function objectiveNames({ directions, systemAttributes }: OptunaStudy): string[] {
  const named = systemAttributes['study:metric_names']
  const count = Math.max(1, directions.length)
  if (Array.isArray(named) && named.length === count && named.every(name => typeof name === 'string')) return named
  return count === 1 ? ['value'] : Array.from({ length: count }, (_, index) => `values_${index}`)
}

/** The trials that a trial was made to try again, because their process had died. */
function retriedBy({ systemAttributes }: OptunaTrial): number[] {
  const history = systemAttributes['retry_history']
  return Array.isArray(history) ? history.filter(number => typeof number === 'number') : []
}

/** What was asked for, where it died before it asked for anything itself. */
function configurationOf({ parameters, systemAttributes }: OptunaTrial): JsonObject {
  if (Object.keys(parameters).length > 0) return parameters
  return asJson(systemAttributes['fixed_params'] ?? {}) as JsonObject
}

/** The objectives, and the user attributes that are numbers. */
function numbersOf({ values, userAttributes }: OptunaTrial, names: readonly string[]): Record<string, number> {
  const numbers: Record<string, number> = {}
  for (const [name, value] of Object.entries(userAttributes)) {
    if (typeof value === 'number' && name !== 'seed') numbers[name] = value
  }
  names.forEach((name, index) => {
    if (values[index] !== undefined) numbers[name] = values[index]
  })
  return numbers
}

type End = Pick<TrackedRun, 'kind' | 'reason'>

function endOf(
  { state, number, lastIntermediate, systemAttributes }: OptunaTrial,
  retried: ReadonlySet<number>,
): End | { readonly unusable: string } {
  switch (state) {
    case 'WAITING':
      return { unusable: 'was not run: it still waits' }
    case 'RUNNING':
      return { unusable: 'had not ended when this was written' }
    case 'PRUNED': {
      const last =
        lastIntermediate && ` after step ${lastIntermediate.step}, where it reported ${lastIntermediate.value}`
      return { kind: 'timed-out', reason: `pruned${last ?? ''}: stopped early for being behind` }
    }
    case 'FAIL': {
      if (retried.has(number)) return { kind: 'infrastructure', reason: 'its process died, and Optuna tried it again' }
      const why = systemAttributes['fail_reason']
      return { kind: 'crashed', reason: typeof why === 'string' ? `failed: ${why}` : 'failed; Optuna does not say why' }
    }
    case 'COMPLETE': {
      const broken = brokenConstraint(systemAttributes['constraints'])
      return { kind: broken === null ? 'finished' : 'violated', reason: broken }
    }
    default:
      return { unusable: `unknown state "${state}"` }
  }
}

function brokenConstraint(constraints: unknown): string | null {
  if (!Array.isArray(constraints)) return null
  const index = constraints.findIndex(value => typeof value === 'number' && !(value <= 0))
  return index < 0 ? null : `constraint ${index} is ${constraints[index]}, and it is broken above 0`
}

function runOf(
  trial: OptunaTrial,
  names: readonly string[],
  configuration: JsonObject,
  { kind, reason }: End,
): TrackedRun {
  const { userAttributes } = trial
  const { seed } = userAttributes
  const numbers = Object.entries(kind === 'finished' || kind === 'violated' ? numbersOf(trial, names) : {})
  return {
    id: String(trial.number),
    name: null,
    place: placeOf(trial),
    configuration,
    seed: typeof seed === 'number' && Number.isSafeInteger(seed) ? seed : null,
    kind,
    status: trial.state,
    reason,
    metrics: Object.fromEntries(numbers.filter(([, value]) => Number.isFinite(value))),
    notFinite: numbers.filter(([, value]) => !Number.isFinite(value)).map(([name]) => name),
    startedAt: trial.startedAt,
    finishedAt: trial.finishedAt,
    seconds: trial.seconds,
    text: null,
    note: written(Object.fromEntries(Object.entries(userAttributes).filter(([, value]) => typeof value !== 'number'))),
    tags: [],
    isBaseline: false,
    parent: null,
    diff: null,
    commit: null,
  }
}

function placeOf({ number }: OptunaTrial): string {
  return `trial ${number}`
}

function written(attributes: Attributes): string | null {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(asJson(value)))
  return (
    Object.entries(attributes)
      .map(([key, value]) => `${key}: ${text(value)}`)
      .join('; ') || null
  )
}

function guessesOf(names: readonly string[], objective: string, runs: readonly TrackedRun[]): string[] {
  const guesses: string[] = []
  if (names.length > 1 && objective === names[0]) {
    guesses.push(
      `the objective ${objective}: it is the first of ${names.length}; ${names.slice(1).join(', ')} are kept beside it`,
    )
  }
  if (runs.some(({ metrics }) => Object.keys(metrics).some(name => !names.includes(name)))) {
    guesses.push('user attributes that are numbers: taken as measured, not as set')
  }
  if (runs.some(({ status }) => status === 'PRUNED')) guesses.push('pruned trials: taken as not finished')
  return guesses
}
