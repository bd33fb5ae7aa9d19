/**
 * Mechanism cards: named changes that one may try, each with a sentence that says what it does and why it might help, a tag
 * for the kind of change, and the values it may take. Pure data in `cards.json`; here it is read and checked.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { overrideProblems } from './configuration.ts'
import type { Configuration } from './options.ts'

export interface Card {
  readonly name: string
  readonly tag: string
  /** `{value}` stands for the value, and must be there when there is more than one. */
  readonly sentence: string
  readonly values: readonly CardValue[]
}

export interface CardValue {
  /** As it reads in the sentence: `0.004`, or `depth 6, width 64`. */
  readonly text: string
  /** What the value changes: a merge patch on a configuration. */
  readonly overrides: Partial<Configuration>
}

const scalar = z.union([z.number(), z.string(), z.boolean()])

const cardFile = z.array(
  z.strictObject({
    name: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case words joined by hyphens'),
    tag: z.string().min(1),
    sentence: z.string().min(1),
    option: z.string().optional(),
    values: z.array(z.union([scalar, z.record(z.string(), scalar)])).min(1),
  }),
)

export const cardsPath = fileURLToPath(new URL('cards.json', import.meta.url))

/** The cards of a file. Throws one sentence a problem. */
export function readCards(path: string = cardsPath): Card[] {
  return parseCards(JSON.parse(readFileSync(path, 'utf8')))
}

/** Cards from their JSON: option by option, every value must be one that a configuration may have. */
export function parseCards(json: unknown): Card[] {
  const parsed = cardFile.safeParse(json)
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `Cards: ${path.join('.')}: ${message}.`)
    throw new Error(lines.join('\n'))
  }
  const problems: string[] = []
  const names = new Set<string>()
  const cards = parsed.data.map(({ name, tag, sentence, option, values }): Card => {
    if (names.has(name)) problems.push(`Card "${name}" appears twice; names must be unique.`)
    names.add(name)
    if (values.length > 1 && !sentence.includes('{value}')) {
      problems.push(`Card "${name}" has ${values.length} values, so its sentence must say {value}.`)
    }
    const cardValues = values.map((value): CardValue => {
      if ((typeof value === 'object') === (option !== undefined)) {
        problems.push(`Card "${name}": a value is an object of options exactly when the card names no option.`)
      }
      const overrides = typeof value === 'object' ? value : { [option ?? '']: value }
      problems.push(...overrideProblems(overrides).map(problem => `Card "${name}": ${problem}`))
      return { text: valueText(value), overrides: overrides as Partial<Configuration> }
    })
    return { name, tag, sentence, values: cardValues }
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return cards
}

function valueText(value: z.infer<typeof scalar> | Record<string, z.infer<typeof scalar>>): string {
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([option, set]) => `${option} ${set}`)
    .join(', ')
}
