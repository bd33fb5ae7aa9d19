/**
 * Whole configurations, as trackers keep them: the seed taken out, one told from another, and the difference of two as the overrides
 * that lead from the first to the second. Pure.
 */
import type { ChangedOption } from '../experiment/intervention.ts'
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { digitsToTell, shortNumber } from '../experiment/short-number.ts'

const seedNames = new Set(
  'seed random_seed randomseed random_state rng_seed rand_seed np_seed numpy_seed torch_seed manual_seed global_seed train_seed training_seed trainer_seed seed_everything'.split(
    ' ',
  ),
)

/** The configuration without options that name a seed, wherever they stand in it, and the first whole number among their values. */
export function withoutSeed(configuration: JsonObject): {
  readonly configuration: JsonObject
  readonly seed: number | null
} {
  let seed: number | null = null
  const without = (value: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]): [string, Json][] => {
        if (isJsonObject(member)) return [[name, without(member)]]
        if (!seedNames.has(lastWordOf(name))) return [[name, member]]
        seed ??= wholeNumber(member)
        return []
      }),
    )
  const rest = without(configuration)
  return { configuration: rest, seed }
}

/** `Random-Seed` and `trainer.random_seed` are `random_seed`. */
function lastWordOf(name: string): string {
  return name
    .replace(/^.*[./]/, '')
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
}

function wholeNumber(value: Json): number | null {
  const number = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null
}

/** An option that is null counts as absent: a merge patch has no other way to say either. */
export function withoutNulls(configuration: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(configuration).flatMap(([name, value]): [string, Json][] => {
      if (value === null) return []
      return [[name, isJsonObject(value) ? withoutNulls(value) : value]]
    }),
  )
}

/** The JSON merge patch (RFC 7396) that makes `to` of `from`; both are without nulls. Empty where they are equal. */
export function overridesBetween(from: JsonObject, to: JsonObject): JsonObject {
  const removed = Object.keys(from).filter(name => !Object.hasOwn(to, name))
  const changed = Object.entries(to).flatMap(([name, value]): [string, Json][] => {
    const before = Object.hasOwn(from, name) ? from[name]! : undefined
    if (before !== undefined && canonicalJson(before) === canonicalJson(value)) return []
    return [[name, isJsonObject(before) && isJsonObject(value) ? overridesBetween(before, value) : value]]
  })
  return Object.fromEntries([...changed, ...removed.map(name => [name, null] as const)])
}

const mostNamed = 12

/** `lr 0.1 → 0.2, depth 4 → 6`: what a run without words of its own says was tried. */
export function changesSentence(changes: readonly ChangedOption[]): string {
  const named = changes.slice(0, mostNamed).map(({ option, from, to }) => {
    const digits = digitsToTell(from, to)
    if (from === undefined) return `${option} = ${text(to, digits)}`
    return to === undefined ? `without ${option}` : `${option} ${text(from, digits)} → ${text(to, digits)}`
  })
  return changes.length > mostNamed ? `${named.join(', ')}, and ${changes.length - mostNamed} more` : named.join(', ')
}

function text(value: Json | undefined, digits: number): string {
  if (typeof value === 'number') return shortNumber(value, digits)
  const written = typeof value === 'string' ? value : value === undefined ? '' : canonicalJson(value)
  return written.length > 60 ? `${written.slice(0, 59)}…` : written
}
