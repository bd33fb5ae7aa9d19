/**
 * Where candidates come from: a file, a program that prints them, or cards. What cannot be used is told with its reason;
 * one bad line never loses the others.
 */
import { readFile } from 'node:fs/promises'
import { basename, isAbsolute } from 'node:path'
import { z } from 'zod'
import type { Intervention } from '../experiment/intervention.ts'
import { isJsonObject, type Json } from '../experiment/json.ts'
import { resolveInside } from '../files/safe-path.ts'
import { seededRandom } from '../statistics/random.ts'
import { outputOfProgram } from './candidate-program.ts'
import { type Card, pairs, parseCards, singles } from './cards.ts'
import type { CandidateSource } from './environment-file.ts'
import { fieldProblems } from './field-problems.ts'
import { InputError } from './input-error.ts'

export interface Candidates {
  readonly interventions: readonly Intervention[]
  readonly unusable: readonly { readonly sentence: string; readonly reason: string }[]
}

export interface CandidateRequest {
  readonly source: CandidateSource
  readonly directory: string
  readonly round: number
  readonly seed: number
  /** A file with the records so far, as JSON lines, for programs that want to learn from them. */
  readonly records: string
  readonly variables: NodeJS.ProcessEnv
  readonly pass: readonly string[]
  /** Of the program's process and its output; made, or cleared. */
  readonly folder: string
  /** Ends the program. */
  readonly stop: AbortSignal
}

const candidate = z.strictObject({
  sentence: z.string().trim().min(1).max(20_000),
  overrides: z.record(z.string(), z.json()).nullish(),
  diff: z.string().nullish(),
  tags: z.array(z.string()).default([]),
  origin: z.string().nullish(),
})

export async function gatherCandidates(request: CandidateRequest): Promise<Candidates> {
  const { source, directory, round, seed } = request
  if ('cards' in source) {
    const cards = await cardsOf(source.cards, directory)
    const single = singles(cards)
    const share = source.pairs ?? 0
    const random = seededRandom(`${seed}/pairs/${round}`)
    const pairCount = share === 0 ? 0 : Math.round((single.length * share) / Math.max(1 - share, 1e-9))
    return {
      interventions: [...single, ...pairs(cards, Math.min(pairCount, 10 * single.length), random)],
      unusable: [],
    }
  }
  if ('file' in source) {
    const text = await readFile(placeOf(source.file, directory), 'utf8').catch(unreadable(source.file))
    if (holdsCards(text)) {
      const name = basename(source.file)
      throw new InputError(
        `${name} holds cards and not candidates: let the environment file say candidates: { cards: ${JSON.stringify(name)} }.`,
      )
    }
    return parseCandidates(text, source.file)
  }
  return parseCandidates(await outputOfProgram(source.program, request), 'the candidate program')
}

async function cardsOf(cards: string | readonly Json[], directory: string): Promise<Card[]> {
  if (typeof cards !== 'string') return parseCards(cards, 'candidates.cards')
  const text = await readFile(placeOf(cards, directory), 'utf8').catch(unreadable(cards))
  return parseCards(parseJson(text, cards), cards)
}

/** Cards have values, of which candidates know nothing. */
function holdsCards(text: string): boolean {
  const value = parsedLine(text.replace(/^\uFEFF/, '')).value
  return Array.isArray(value) && value.length > 0 && value.every(each => isJsonObject(each) && 'values' in each)
}

/** Reads candidates from a JSON array or from JSON lines. */
export function parseCandidates(text: string, where: string): Candidates {
  const interventions: Intervention[] = []
  const unusable: { sentence: string; reason: string }[] = []
  for (const { name, value, error } of entries(text, where)) {
    if (error !== undefined) {
      unusable.push({ sentence: name, reason: error })
      continue
    }
    const parsed = checked(value)
    if (parsed === null) {
      unusable.push({ sentence: name, reason: `${name}: it is nested too deep.` })
      continue
    }
    if (!parsed.success) {
      unusable.push({ sentence: name, reason: fieldProblems(value, parsed.error.issues, name).join(' ') })
      continue
    }
    const { sentence, overrides, diff, tags, origin } = parsed.data
    interventions.push({
      sentence,
      overrides: overrides ?? null,
      diff: diff ?? null,
      tags,
      origin: origin ?? null,
    })
  }
  return { interventions, unusable }
}

/** Null for a value so deep that going through it runs out of stack. */
function checked(value: unknown) {
  try {
    return candidate.safeParse(value)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function entries(whole: string, where: string): { name: string; value?: unknown; error?: string }[] {
  const text = whole.replace(/^\uFEFF/, '')
  const lines = text
    .split('\n')
    .map((line, index) => ({ name: `${where}, line ${index + 1}`, ...parsedLine(line) }))
    .filter(({ line }) => line.trim() !== '')
  // A program may print `[info] …` before its lines, so the first character alone decides nothing.
  const isArray =
    text.trimStart().startsWith('[') && !(lines.length > 1 && lines.some(({ value }) => isJsonObject(value)))
  if (!isArray && !isWhole(text)) return lines
  const values = parseJson(text, where)
  return (values as unknown[]).map((value, index) => ({ name: `${where}, entry ${index + 1}`, value }))
}

function isWhole(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

function parsedLine(line: string): { line: string; value?: Json; error?: string } {
  try {
    return { line, value: JSON.parse(line) as Json }
  } catch (error) {
    return { line, error: `It is not JSON: ${(error as Error).message}` }
  }
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new InputError(`${where} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

/** An absolute path was given on the command line; what the environment file names is inside its folder. */
function placeOf(path: string, directory: string): string {
  return isAbsolute(path) ? path : resolveInside(directory, path)
}

function unreadable(name: string): (cause: NodeJS.ErrnoException) => never {
  return cause => {
    throw new InputError(`candidates: "${name}" cannot be read (${cause.code ?? cause.message}); correct its name.`, {
      cause,
    })
  }
}
