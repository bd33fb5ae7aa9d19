/**
 * What an Ax experiment optimises and what it demands, in the ways that Ax has written it down: as objects, and as expressions
 * (`-loss`, `latency <= 0.95 * baseline`).
 */
import type { Constraint, Direction } from '../experiment/environment.ts'
import { type AxObject, listIn, nameIn, objectIn } from './ax-value.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'

export interface AxGoal {
  /** Null where there is none, or it is no single metric. */
  readonly objective: TrackedExperiment['objective']
  readonly constraints: readonly Constraint[]
  readonly guesses: readonly string[]
}

export function axGoal(configuration: AxObject | null): AxGoal {
  if (configuration === null) return { objective: null, constraints: [], guesses: [] }
  const { objective, guess } = objectiveOf(objectIn(configuration['objective']) ?? {})
  const constraints = listIn(configuration['outcome_constraints']).map(each => constraintOf(objectIn(each) ?? {}))
  const unclear = constraints.filter(each => each === null).length
  return {
    objective,
    constraints: constraints.filter(each => each !== null),
    guesses: [
      ...(guess === null ? [] : [guess]),
      ...(unclear === 0 ? [] : [`${unclear} of the constraints: not on a single metric, and left out`]),
    ],
  }
}

type Objective = { objective: TrackedExperiment['objective']; guess: string | null }

function objectiveOf(written: AxObject): Objective {
  const { expression, objectives, metric, minimize } = written
  if (typeof expression === 'string') return objectiveOfExpression(expression)
  const [first, ...others] = listIn(objectives)
  if (first !== undefined) {
    const { objective } = objectiveOf(objectIn(first) ?? {})
    return { objective, guess: objective && ofSeveral(objective.name, others.length) }
  }
  const name = nameIn(metric)
  if (name === null)
    return { objective: null, guess: 'the objective: it is no single metric, so one of its metrics was taken' }
  const lower = objectIn(metric)?.['lower_is_better']
  const isLower = typeof minimize === 'boolean' ? minimize : lower
  return { objective: { name, direction: typeof isLower === 'boolean' ? directionOf(isLower) : null }, guess: null }
}

/** Always to be raised: `-loss` lowers loss. Several, with commas between them, are objectives beside each other. */
function objectiveOfExpression(expression: string): Objective {
  const [first, ...others] = expression.split(',')
  const match = /^\s*(-?)\s*(?:[\d.e+-]+\s*\*\s*)?([^\s*+,<>=]+)\s*$/.exec(first!)
  if (match === null) {
    return {
      objective: null,
      guess: `the objective: it is ${expression}, and no single metric, so one of them was taken`,
    }
  }
  const objective = { name: match[2]!, direction: directionOf(match[1] === '-') }
  return { objective, guess: ofSeveral(objective.name, others.length) }
}

function ofSeveral(name: string, others: number): string | null {
  return others === 0 ? null : `the objective ${name}: it is the first of ${others + 1}; the others are kept beside it`
}

function directionOf(isLower: boolean): Direction {
  return isLower ? 'minimize' : 'maximize'
}

/** Null where it is on no single metric. A relative bound is in per cent of the status quo, which an expression calls baseline. */
function constraintOf(written: AxObject): Constraint | null {
  const { expression, metric, op, bound, relative } = written
  if (typeof expression === 'string') return constraintOfExpression(expression)
  const name = nameIn(metric)
  if (name === null || typeof bound !== 'number') return null
  return bounded(name, nameIn(op) === 'GEQ', relative === true ? 1 + bound / 100 : bound, relative === true)
}

function constraintOfExpression(expression: string): Constraint | null {
  const match = /^\s*([^\s*+<>=]+)\s*([<>]=)\s*([\d.e+-]+)?\s*(\*?)\s*(baseline)?\s*$/.exec(expression)
  if (match === null || (match[3] === undefined && match[5] === undefined)) return null
  const bound = Number(match[3] ?? 1)
  return Number.isFinite(bound) ? bounded(match[1]!, match[2] === '>=', bound, match[5] !== undefined) : null
}

function bounded(metric: string, isLeast: boolean, bound: number, isRelative: boolean): Constraint {
  const limit = isLeast ? { atLeast: bound } : { atMost: bound }
  return { metric, ...limit, ...(isRelative ? { relativeTo: 'reference' as const } : {}) }
}
