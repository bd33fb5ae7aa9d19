/** What a gain is, for whoever reads a table of them: of which metric, and which way is good. */
import { type Direction, type Environment, objectiveOf } from '../experiment/environment.ts'
import { singleLine } from './outside-text.ts'

/** In words which way is good. */
export function betterWay(direction: Direction): string {
  return direction === 'minimize' ? 'lower is better' : 'higher is better'
}

/** `val_bpb (bits per byte, lower is better)`. */
export function objectiveText({ family }: Pick<Environment, 'family'>): string {
  const { name, direction, unit } = objectiveOf(family)
  return `${singleLine(name)} (${unit === undefined ? '' : `${singleLine(unit)}, `}${betterWay(direction)})`
}

/** One sentence; of records of several environments one that holds for all of them. */
export function gainLegend(environments: readonly Pick<Environment, 'family'>[]): string {
  const [only, ...others] = [...new Set(environments.map(objectiveText))]
  return others.length > 0 || only === undefined
    ? 'Gains are in the metric of the environment of each: above 0 is better than its reference.'
    : `Gains are in ${only}: above 0 is better than the reference.`
}
