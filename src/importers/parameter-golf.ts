/**
 * Submissions to openai/parameter-golf: files `submission.json` in a folder of records, one of them, or all in one file of JSON lines.
 * Each track has a budget of its own and is an environment; a submission with several seeds is as many runs; `base_pr` is what it was
 * made from. Authors are not read.
 */
import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { canonicalJson, type Json, type JsonObject } from '../experiment/json.ts'
import type { UnusableRow } from './history.ts'
import type { Importer, Source } from './importer.ts'
import { type JsonRecord, type JsonRecords, readJsonRecords } from './json-records.ts'
import { beginningOf, textOf } from './source.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'
import { unusableRow } from './unusable-row.ts'
import { momentIn, numberIn } from './value.ts'

const metric = 'val_bpb'

export const parameterGolf: Importer = {
  name: 'parameter-golf',
  title: 'submissions to parameter-golf',
  takes: ['reference'],
  recognises: source => {
    if (source.kind === 'folder') return submissionFiles(source.path, 1).length > 0
    const beginning = beginningOf(source)
    return (
      /^\s*\{/.test(beginning) && /"val_bpb"\s*:/.test(beginning) && /"(blurb|track|github_id)"\s*:/.test(beginning)
    )
  },
  read: async (source, options) => trackedHistories(trackedTracks(await recordsOf(source)), source.name, options),
}

const mostFiles = 100_000

async function recordsOf(source: Source): Promise<JsonRecords> {
  if (source.kind !== 'folder') return readJsonRecords(await textOf(source))
  const records: JsonRecord[] = []
  const broken: { line: number; text: string; reason: string }[] = []
  for (const [index, path] of submissionFiles(source.path, mostFiles).sort().entries()) {
    const name = relative(source.path, path)
    const read = readJsonRecords(readFileSync(path, 'utf8').replaceAll(/[\r\n]/g, ' '))
    const record = read.records[0]
    if (record) records.push({ ...record, line: index + 1 })
    else broken.push({ line: index + 1, text: name, reason: `${name} ${read.broken[0]?.reason ?? 'is empty'}` })
  }
  return { records, broken }
}

const mostFolders = 20_000

/** Links are not followed: they may lead out of the folder. A folder that may not be read has nothing for us. */
function submissionFiles(folder: string, most: number): string[] {
  const found: string[] = []
  const waiting = [folder]
  for (let count = 0; waiting.length > 0 && found.length < most && count < mostFolders; count++) {
    const at = waiting.pop()!
    for (const entry of entriesOf(at)) {
      const isSearched = entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules'
      if (isSearched) waiting.push(join(at, entry.name))
      else if (entry.isFile() && entry.name === 'submission.json') found.push(join(at, entry.name))
    }
  }
  return found
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** One experiment for each track. */
export function trackedTracks({ records, broken }: JsonRecords): TrackedExperiment[] {
  const first = new Map<string, string>()
  const tracks = new Map<string, { runs: TrackedRun[]; unusable: UnusableRow[] }>()
  const ids = new Set<string>()
  for (const { line, record, text } of records) {
    const track = textIn(record['track']) ?? 'all'
    if (!tracks.has(track)) tracks.set(track, { runs: [], unusable: [] })
    const { runs, unusable } = tracks.get(track)!
    const place = `line ${line}`
    const content = canonicalJson(record)
    const copied = first.get(content)
    if (copied !== undefined) {
      unusable.push(unusableRow(place, `the same as ${copied}, word for word: a copy, not a second run`, text))
      continue
    }
    first.set(content, place)
    const read = runsOf(record, place, ids)
    if (read.length === 0) unusable.push(unusableRow(place, `no value of ${metric}`, text))
    runs.push(...read)
  }
  return [...tracks].map(([name, { runs, unusable }], index) => ({
    name,
    description: null,
    objective: { name: metric, direction: 'minimize' },
    constraints: [],
    runs,
    unusable:
      index > 0
        ? unusable
        : [...unusable, ...broken.map(each => unusableRow(`line ${each.line}`, each.reason, each.text))],
    guesses: [],
  }))
}

/** One for each seed; the first has the number of the submission for its id. */
function runsOf(record: JsonObject, place: string, ids: Set<string>): TrackedRun[] {
  const number = numbered(record['pr'])
  const name = textIn(record['name'])
  const blurb = textIn(record['blurb'])
  const base = record['base_pr'] ?? null
  const id = unique(number ?? name ?? place, ids)
  const seeds = seedsOf(record)
  const mean = numberOf(record[metric])
  const results = seeds.length > 0 ? seeds : mean === null ? [] : [{ seed: null, value: mean }]
  const others = { bytes_total: numberOf(record['bytes_total']), step_stop: numberOf(record['step_stop']) }
  const known = Object.fromEntries(
    Object.entries(others).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  )
  return results.map(({ seed, value }, index) => ({
    id: index === 0 ? id : `${id} seed ${seed}`,
    name,
    place: number === null ? place : `pull ${number}${seed === null ? '' : `, seed ${seed}`}`,
    configuration: {},
    seed,
    kind: 'finished',
    status: null,
    reason: null,
    metrics: { [metric]: value, ...known },
    startedAt: null,
    finishedAt: momentIn(textIn(record['date']) ?? ''),
    seconds: numberOf(record['wallclock_seconds']),
    text: [name, blurb].filter(Boolean).join(': ') || null,
    note: null,
    tags: [],
    isBaseline: false,
    parent: base === null ? null : numbered(base),
    diff: null,
    commit: null,
  }))
}

/** `seeds` as pairs of a seed and its value, or `seed_results` as an object or a list of records. */
function seedsOf(record: JsonObject): { seed: number; value: number }[] {
  const listed = record['seed_results'] ?? record['seeds'] ?? null
  if (listed === null || typeof listed !== 'object') return []
  const pairs = Array.isArray(listed)
    ? listed.map(each => (Array.isArray(each) ? each : [member(each, 'seed'), member(each, metric)]))
    : Object.entries(listed)
  return pairs.flatMap(([seed, result]) => {
    const value = numberOf(typeof result === 'object' ? member(result, metric) : result)
    const number = numberOf(seed)
    return value === null || number === null ? [] : [{ seed: number, value }]
  })
}

function member(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject)[name] : undefined
}

function unique(id: string, ids: Set<string>): string {
  let found = id
  for (let count = 2; ids.has(found); count++) found = `${id} (${count})`
  ids.add(found)
  return found
}

/** `198`, `"#198"` and `"PR 198"` are 198. */
function numbered(value: Json | undefined): string | null {
  return /\d+/.exec(typeof value === 'number' || typeof value === 'string' ? String(value) : '')?.[0] ?? null
}

function numberOf(value: Json | undefined): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? numberIn(value) : null
}

function textIn(value: Json | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
