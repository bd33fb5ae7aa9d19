/**
 * Mechanism cards: named changes with the values they may take. A card file is data; this lists the interventions that
 * it stands for, one card at a time and in pairs.
 */
import { z } from 'zod'
import { mergePatch } from '../experiment/configuration.ts'
import type { Intervention } from '../experiment/intervention.ts'
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import type { Random } from '../statistics/random.ts'
import { fieldProblems } from './field-problems.ts'

const card = z
  .strictObject({
    name: z.string().min(1),
    /** What it does and why it might help; `{value}` stands for the value. */
    sentence: z.string().min(1),
    /** The mechanism it belongs to. */
    tag: z.string().min(1),
    /** The option that the values are for; without it each value is itself a merge patch. */
    option: z.string().min(1).optional(),
    values: z.array(z.json()).min(1),
  })
  .refine(({ option, values }) => option !== undefined || values.every(value => isJsonObject(value)), {
    path: ['values'],
    error: 'objects (merge patches), because the card names no "option"',
  })

export type Card = z.output<typeof card>

export function parseCards(value: unknown, where: string): Card[] {
  const parsed = z.array(card).min(1).safeParse(value)
  if (!parsed.success) throw new Error(fieldProblems(value, parsed.error.issues, where).join('\n'))
  const names = parsed.data.map(({ name }) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated) throw new Error(`${where}: two cards are named "${repeated}"; give each card a name of its own.`)
  return parsed.data
}

/** Every card with every value, in the order of the file. */
export function singles(cards: readonly Card[]): Intervention[] {
  return cards.flatMap(each => each.values.map(value => interventionOf(each, value)))
}

/** `count` different pairs of cards that change different options, drawn at random. Fewer when there are not so many. */
export function pairs(cards: readonly Card[], count: number, random: Random): Intervention[] {
  const all = singles(cards)
  const found = new Map<string, Intervention>()
  for (let tries = 0; found.size < count && tries < 50 * count; tries++) {
    const [first, second] = random.sample(all, 2)
    if (!first || !second || shareOption(first.overrides!, second.overrides!)) continue
    const overrides = mergePatch(first.overrides!, second.overrides!) as JsonObject
    const key = canonicalJson(overrides)
    if (found.has(key)) continue
    found.set(key, {
      sentence: `${first.sentence} Together with: ${second.sentence}`,
      overrides,
      diff: null,
      tags: [...new Set([...first.tags, ...second.tags])],
      origin: `${first.origin} + ${second.origin}`,
    })
  }
  return [...found.values()]
}

function interventionOf({ name, sentence, tag, option, values }: Card, value: Json): Intervention {
  const overrides = option === undefined ? (value as JsonObject) : nested(option.split('.'), value)
  const label = isJsonObject(value) ? shownPatch(value) : typeof value === 'string' ? value : canonicalJson(value)
  return {
    sentence: sentence.replaceAll('{value}', label),
    overrides,
    diff: null,
    tags: [tag],
    origin: values.length === 1 ? name : `${name}=${label}`,
  }
}

function nested([first, ...rest]: string[], value: Json): JsonObject {
  return { [first!]: rest.length === 0 ? value : nested(rest, value) }
}

function shownPatch(patch: JsonObject): string {
  return Object.entries(patch)
    .map(([option, value]) => `${option} ${typeof value === 'string' ? value : canonicalJson(value)}`)
    .join(', ')
}

function shareOption(a: JsonObject, b: JsonObject): boolean {
  return Object.keys(a).some(key => {
    if (!(key in b)) return false
    const [first, second] = [a[key], b[key]]
    return isJsonObject(first) && isJsonObject(second) ? shareOption(first, second) : true
  })
}
