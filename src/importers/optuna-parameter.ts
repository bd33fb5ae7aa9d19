/**
 * Optuna stores a parameter as a number and its distribution as JSON: of a categorical one the number is the index of a choice.
 */
import type { Json } from '../experiment/json.ts'
import { asJson, parsePythonJson } from './python-json.ts'

/** What the objective function saw. Throws a sentence where the distribution does not have such a value. */
export function parameterValue(name: string, stored: number, distribution: string): Json {
  // Most are numbers, and their distributions need not be parsed to know it.
  if (!distribution.includes('"CategoricalDistribution"')) return asJson(stored)
  const { attributes } = parsePythonJson(distribution) as {
    readonly attributes?: { readonly choices?: readonly unknown[] }
  }
  const choices = attributes?.choices ?? []
  if (!Number.isInteger(stored) || stored < 0 || stored >= choices.length) {
    throw new Error(`the parameter ${name} has choice ${stored}, but there are ${choices.length}`)
  }
  return asJson(choices[stored])
}
