/**
 * Where candidates come from: a file, a program that prints them, or cards. What cannot be used is told with its reason;
 * one bad line never loses the others.
 */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { runVariables } from '../execute/run-variables.ts'
import { substitute } from '../execute/substitute.ts'
import type { Intervention } from '../experiment/intervention.ts'
import { resolveInside } from '../files/safe-path.ts'
import { seededRandom } from '../statistics/random.ts'
import { pairs, parseCards, singles } from './cards.ts'
import type { CandidateSource } from './environment-file.ts'
import { fieldProblems } from './field-problems.ts'

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
  readonly cancel: AbortSignal
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
    const text = await readFile(placeOf(source.cards, directory), 'utf8').catch(unreadable(source.cards))
    const cards = parseCards(parseJson(text, source.cards), source.cards)
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
    return parseCandidates(text, source.file)
  }
  return parseCandidates(await outputOf(source.program, request), 'the candidate program')
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
    const parsed = candidate.safeParse(value)
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

function entries(text: string, where: string): { name: string; value?: unknown; error?: string }[] {
  if (text.trimStart().startsWith('[')) {
    const value = parseJson(text, where)
    return (value as unknown[]).map((each, index) => ({ name: `${where}, entry ${index + 1}`, value: each }))
  }
  return text
    .split('\n')
    .map((line, index) => ({ name: `${where}, line ${index + 1}`, line }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ name, line }) => {
      try {
        return { name, value: JSON.parse(line) }
      } catch (error) {
        return { name, error: `It is not JSON: ${(error as Error).message}` }
      }
    })
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${where} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

/** An absolute path was given on the command line; what the environment file names is inside its folder. */
function placeOf(path: string, directory: string): string {
  return isAbsolute(path) ? path : resolveInside(directory, path)
}

function unreadable(name: string): (cause: NodeJS.ErrnoException) => never {
  return cause => {
    throw new Error(`candidates: "${name}" cannot be read (${cause.code ?? cause.message}); correct its name.`, {
      cause,
    })
  }
}

const longestOutput = 64 * 2 ** 20

/** Runs the program in the environment's folder and gives what it printed. It has ten minutes. */
async function outputOf(program: string | readonly string[], request: CandidateRequest): Promise<string> {
  const { directory, round, seed, records, variables, pass, cancel } = request
  const command = substitute(program, { round: String(round), seed: String(seed), records, root: directory })
  const [file, ...rest] = typeof command === 'string' ? ['/bin/sh', '-c', command] : command
  const child = spawn(file!, rest, {
    cwd: directory,
    env: runVariables({ inherit: variables, pass, slot: 0 }),
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([cancel, AbortSignal.timeout(600_000)]),
  })
  let output = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (output.length > longestOutput) child.kill('SIGKILL')
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-2_000)
  })
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.on('error', reject).on('close', resolve)
  const code = await promise
  if (output.length > longestOutput)
    throw new Error('candidates: the program printed more than 64 MB; let it print fewer.')
  if (code !== 0)
    throw new Error(`candidates: the program ended with exit code ${code}: ${complaints.trim() || 'no message'}.`)
  return output
}
