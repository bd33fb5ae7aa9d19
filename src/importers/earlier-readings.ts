/**
 * Whether a source was read before, wherever it stands and whatever it is called. The ledger keeps a sample of each reading: the rows of
 * the smallest keys, which are hashes, so that it says how far one source is contained in another (Broder, On the resemblance and
 * containment of documents, 1997).
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson, type Json, type JsonObject } from '../experiment/json.ts'
import type { StoredReading } from '../ledger/readings.ts'
import type { ImportedRow } from './history.ts'

/** What a ledger keeps of a reading. */
export interface ReadingDefinition {
  /** What the user said of the source. */
  readonly flags: JsonObject
  /** What was tried in some of its rows and what came of it, by key. */
  readonly sample: Readonly<Record<string, string>>
}

/** Readings of before that read the rows of a history. */
export interface EarlierReadings {
  /** The one that it goes on with: into the same environment; of several the one by the same flags. */
  readonly same: StoredReading | null
  /** All that read its rows into the same environment. */
  readonly here: readonly StoredReading[]
  /** Those that read its rows into another environment. */
  readonly elsewhere: readonly StoredReading[]
}

export interface HistoryToCompare {
  readonly familyId: string
  readonly place: string | null
  readonly rows: readonly ImportedRow[]
  readonly flags: JsonObject
  /** Readings of which the ledger knows the rows by their keys. */
  readonly known: ReadonlySet<number>
}

const sampled = 64

/** A row as far as readings are compared by it. */
export type ComparedRow = Pick<ImportedRow, 'key' | 'intervention' | 'outcome'>

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
    sample: Object.fromEntries(smallest.map(row => [shortKey(row), contentOf(row)])),
  }
}

/** Of a ledger that somebody else wrote too: what is no definition says nothing. */
const definition = z.object({ flags: z.record(z.string(), z.json()), sample: z.record(z.string(), z.string()) })
const unknown: ReadingDefinition = { flags: {}, sample: {} }

function definitionIn(reading: StoredReading): ReadingDefinition {
  const { data } = definition.safeParse(reading.definition)
  if (data === undefined) return unknown
  const sample = Object.entries(data.sample).slice(0, sampled)
  return { flags: data.flags as JsonObject, sample: Object.fromEntries(sample) }
}

export function flagsOf(reading: StoredReading): JsonObject {
  return definitionIn(reading).flags
}

/** `place`: the source itself, whose rows may all be others by now; null where these are to be added to those of before. */
export function earlierReadings(
  readings: readonly StoredReading[],
  { familyId, place, rows, flags, known }: HistoryToCompare,
): EarlierReadings {
  if (readings.length === 0) return { same: null, here: [], elsewhere: [] }
  const keys = new Set(rows.map(shortKey))
  const positions = Float64Array.from(keys, positionOf).sort()
  let contents: ReadonlySet<string> | null = null
  const again = readings.filter(reading => {
    if (known.has(reading.id)) return true
    const { sample } = definitionIn(reading)
    const all = Object.keys(sample)
    const shared = all.filter(key => keys.has(key))
    // A sample that is not full is all of its source; of a larger one it is all up to its largest key.
    const within = all.length < sampled ? rows.length : countUpTo(positions, Math.max(...all.map(positionOf)))
    if (shared.length * 2 > Math.min(all.length, within)) return true
    // What git or an export wrote anew has other keys, and says the same.
    contents ??= new Set(rows.map(contentOf))
    return Object.values(sample).filter(content => contents!.has(content)).length * 2 > all.length
  })
  const sharing = again.filter(reading => reading.familyId === familyId)
  // Of a source without a row of before it may be that all were written anew.
  const ofPlace = readings.filter(reading => reading.familyId === familyId && reading.place === place)
  const here = sharing.length > 0 ? sharing : ofPlace
  const isSaid = (reading: StoredReading) => canonicalJson(flagsOf(reading)) === canonicalJson(flags)
  return {
    same: here.findLast(isSaid) ?? here.at(-1) ?? null,
    here,
    elsewhere: again.filter(reading => reading.familyId !== familyId),
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

/** What would be stored of a row, but for its code, which git may not have any more. Of every row, so that it has to be quick. */
export function meaningOf(row: ImportedRow): string {
  return shortHash([row.role, row.seed, row.note, ...contentParts(row)])
}

/** What was tried and what came of it. */
function contentOf(row: ComparedRow): string {
  return shortHash(contentParts(row))
}

function contentParts({ intervention, outcome }: ComparedRow): unknown[] {
  const { sentence, overrides } = intervention
  const metrics = Object.entries(outcome.metrics).sort(([one], [other]) => (one < other ? -1 : 1))
  return [sentence, overrides, outcome.kind, metrics]
}

function shortHash(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 16)
}
