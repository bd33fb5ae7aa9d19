/**
 * Optuna stores a parameter as a number and its distribution as JSON: of a categorical one the number is the index of a choice.
 */
import type { Json } from '../experiment/json.ts'
import { asJson, parsePythonJson } from './python-json.ts'

/** What the objective function saw. Throws a sentence where the distribution does not have such a value, or is none. */
export function parameterValue(name: string, stored: number, distribution: string | undefined): Json {
  if (typeof stored !== 'number' || typeof distribution !== 'string') {
    throw new Error(`the parameter ${name} has no number or no distribution`)
  }
  // Most are numbers, and their distributions need not be parsed to know it.
  if (!distribution.includes('"CategoricalDistribution"')) return asJson(stored)
  const choices = choicesIn(name, distribution)
  if (!Number.isInteger(stored) || stored < 0 || stored >= choices.length) {
    throw new Error(`the parameter ${name} has choice ${stored}, but there are ${choices.length}`)
  }
  return asJson(choices[stored])
}

function choicesIn(name: string, distribution: string): readonly unknown[] {
  let value: { readonly attributes?: { readonly choices?: unknown } } | null
  try {
    value = parsePythonJson(distribution) as typeof value
  } catch (cause) {
    throw new Error(`the distribution of the parameter ${name} is broken: ${distribution.slice(0, 80)}`, { cause })
  }
  const choices = value?.attributes?.choices
  return Array.isArray(choices) ? choices : []
}
