/**
 * Whether a source was read before: its rows are told by their keys wherever they stand, and what was made of them by a sample. The sample
 * is the rows of the smallest keys, which are hashes, so that two of them say how far one source is contained in the other (Broder,
 * On the resemblance and containment of documents, 1997).
 */
import { hash } from 'node:crypto'
import { canonicalJson, contentHash, type Json, type JsonObject } from '../experiment/json.ts'
import type { StoredReading } from '../ledger/readings.ts'
import type { ImportedRow } from './history.ts'

/** What a ledger keeps of a reading. */
export interface ReadingDefinition {
  /** What the user said of the source. */
  readonly flags: JsonObject
  /** What was made of some of its rows, by key: a hash of all, and one of what was tried and what came of it. */
  readonly sample: Readonly<Record<string, string>>
}

/** Readings of before that read the rows of a history. */
export interface EarlierReadings {
  /** The one that it goes on with: into the same environment, and alike as far as the user says. */
  readonly same: StoredReading | null
  /** Whether that one made the same of the rows. */
  readonly isAlike: boolean
  /** Those that read its rows into the same environment by other flags, and made something else of them. */
  readonly otherwise: readonly StoredReading[]
  /** Those that read its rows into another environment. */
  readonly elsewhere: readonly StoredReading[]
}

export interface HistoryToCompare {
  readonly familyId: string
  readonly place: string | null
  readonly rows: readonly ImportedRow[]
  readonly flags: JsonObject
}

const sampled = 64

/** A row as far as readings are compared by it. */
export type ComparedRow = Pick<ImportedRow, 'key' | 'intervention' | 'outcome'> &
  Partial<Pick<ImportedRow, 'role' | 'seed'>>

export function definitionOf(flags: JsonObject, rows: readonly ComparedRow[]): Json {
  let smallest: ComparedRow[] = []
  const cut = () => {
    smallest = smallest.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, sampled)
  }
  for (const row of rows) {
    if (smallest.length < sampled || row.key < smallest[sampled - 1]!.key) smallest.push(row)
    if (smallest.length === 16 * sampled) cut()
  }
  cut()
  return {
    flags,
    sample: Object.fromEntries(smallest.map(row => [shortKey(row), `${meaningOf(row)}${contentOf(row)}`])),
  }
}

export function flagsOf({ definition }: StoredReading): JsonObject {
  return (definition as unknown as ReadingDefinition).flags
}

/** `place`: the source itself, whose rows may all be others by now; null where these are to be added to those of before. */
export function earlierReadings(
  readings: readonly StoredReading[],
  { familyId, place, rows, flags }: HistoryToCompare,
): EarlierReadings {
  if (readings.length === 0) return { same: null, isAlike: true, otherwise: [], elsewhere: [] }
  const byKey = new Map(rows.map(row => [shortKey(row), row]))
  let contents: ReadonlySet<string> | null = null
  const positions = Float64Array.from(byKey.keys(), positionOf).sort()
  const again = readings.flatMap(reading => {
    const { sample } = reading.definition as unknown as ReadingDefinition
    const keys = Object.keys(sample)
    const shared = keys.filter(key => byKey.has(key))
    // A sample that is not full is all of its source; of a larger one it is all up to its largest key.
    const within = keys.length < sampled ? rows.length : countUpTo(positions, Math.max(...keys.map(positionOf)))
    const isSource = reading.place === place && reading.familyId === familyId
    if (!isSource && shared.length * 2 <= Math.min(keys.length, within)) {
      // What git or an export wrote anew has other keys, and says the same.
      contents ??= new Set(rows.map(contentOf))
      const said = Object.values(sample).filter(each => contents!.has(each.slice(hashLength)))
      if (said.length * 2 <= keys.length) return []
    }
    const isAlike =
      (isSource || shared.length > 0) &&
      shared.every(key => sample[key]!.slice(0, hashLength) === meaningOf(byKey.get(key)!))
    const isSaid = canonicalJson(flagsOf(reading)) === canonicalJson(flags)
    return [{ reading, isAlike, isSaid }]
  })
  const mine = again.filter(({ reading }) => reading.familyId === familyId)
  const same = mine.findLast(({ isSaid }) => isSaid) ?? mine.findLast(({ isAlike }) => isAlike)
  return {
    same: same?.reading ?? null,
    isAlike: same?.isAlike ?? true,
    otherwise: mine.filter(({ isAlike, isSaid }) => !isAlike && !isSaid).map(({ reading }) => reading),
    elsewhere: again.filter(({ reading }) => reading.familyId !== familyId).map(({ reading }) => reading),
  }
}

function shortKey({ key }: ComparedRow): string {
  return key.slice(0, 16)
}

/** The first 48 bits of a key, as a number. */
function positionOf(key: string): number {
  return Number.parseInt(key.slice(0, 12), 16)
}

function countUpTo(sorted: Float64Array, largest: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= largest) low = middle + 1
    else high = middle
  }
  return low
}

const hashLength = 16

/** What would be stored of a row, but for its code, which git may not have any more. */
function meaningOf({ role, seed, intervention, outcome }: ComparedRow): string {
  const { sentence, overrides } = intervention
  const { kind, metrics } = outcome
  return contentHash([role ?? null, seed ?? null, sentence, overrides, kind, { ...metrics }]).slice(0, hashLength)
}

/** What was tried and what came of it. Of every row of a source, so that it has to be quick. */
function contentOf({ intervention, outcome }: ComparedRow): string {
  const { sentence, overrides } = intervention
  const metrics = Object.entries(outcome.metrics).sort(([one], [other]) => (one < other ? -1 : 1))
  return hash('sha256', JSON.stringify([sentence, overrides, outcome.kind, metrics])).slice(0, hashLength)
}
