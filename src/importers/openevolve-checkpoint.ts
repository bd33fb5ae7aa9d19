/**
 * OpenEvolve's checkpoints: folders with a JSON file for each program that the population still had. The folder may be one checkpoint, or
 * what holds several, which are read together: an early one has programs that were dropped later.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type EvolvedProgram, evolvedRuns } from './evolved-program.ts'
import type { UnusableRow } from './history.ts'
import type { Importer, Source } from './importer.ts'
import { momentOfSeconds } from './moment.ts'
import { parsePythonJson } from './python-json.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'
import { unusableRow } from './unusable-row.ts'

export const openevolveCheckpoint: Importer = {
  name: 'openevolve',
  title: 'OpenEvolve (a folder of checkpoints, or one)',
  takes: ['reference'],
  recognises: source => source.kind === 'folder' && checkpointsIn(source.path).length > 0,
  read: async (source, options) => trackedHistories([readOpenevolve(source)], source.name, options),
}

interface StoredProgram {
  readonly id?: unknown
  readonly code?: unknown
  readonly changes_description?: unknown
  readonly language?: unknown
  readonly parent_id?: unknown
  readonly generation?: unknown
  readonly timestamp?: unknown
  readonly iteration_found?: unknown
  readonly metrics?: Readonly<Record<string, unknown>> | null
  readonly metadata?: Readonly<Record<string, unknown>> | null
}

/** Throws a sentence where the folder holds no checkpoint. */
export function readOpenevolve(source: Source): TrackedExperiment {
  const checkpoints = source.kind === 'folder' ? checkpointsIn(source.path) : []
  if (checkpoints.length === 0) {
    throw new Error(`${source.name} has no checkpoint of OpenEvolve: a folder "programs" with JSON files`)
  }
  const stored: StoredProgram[] = []
  const broken: UnusableRow[] = []
  // A program does not change after it was stored, and its file has its name in every checkpoint.
  const seen = new Set<string>()
  for (const checkpoint of checkpoints) {
    for (const name of programFiles(checkpoint)) {
      if (seen.has(name)) continue
      const program = programIn(join(checkpoint, 'programs', name))
      if (typeof program?.id === 'string' && typeof program.code === 'string') {
        seen.add(name)
        stored.push(program)
      } else broken.push(brokenFile(`${basename(checkpoint)}/programs/${name}`))
    }
  }
  const order = ({ iteration_found, timestamp }: StoredProgram) =>
    [Number(iteration_found ?? 0), Number(timestamp ?? 0)] as const
  stored.sort((a, b) => order(a)[0] - order(b)[0] || order(a)[1] - order(b)[1])
  const byId = new Map(stored.map(program => [String(program.id), program]))
  const { runs, unusable } = evolvedRuns(stored.map(program => programOf(program, byId)))
  const hasScore = runs.some(({ metrics }) => 'combined_score' in metrics)
  return {
    name: null,
    description: null,
    objective: hasScore ? { name: 'combined_score', direction: 'maximize' } : null,
    constraints: [],
    runs,
    unusable: [...broken, ...unusable],
    guesses: [
      'programs that the population dropped before a checkpoint are not there, so what did badly is missing more often than what did well',
      ...(hasScore
        ? []
        : ['the metric: no program has a combined_score, and OpenEvolve itself goes by the average of its metrics']),
    ],
  }
}

function brokenFile(path: string): UnusableRow {
  return unusableRow(`file ${path}`, 'is not a program: it has no "id" and "code"', path)
}

/** The folder itself, or `checkpoint_N` in it or in its `checkpoints`, by number. */
function checkpointsIn(folder: string): string[] {
  if (programFiles(folder).length > 0) return [folder]
  const within = [folder, join(folder, 'checkpoints')]
  const found = within.flatMap(path =>
    entriesOf(path, 'folder').flatMap(name => {
      const number = /^checkpoint_(\d+)$/.exec(name)?.[1]
      return number === undefined ? [] : [{ number: Number(number), path: join(path, name) }]
    }),
  )
  const inOrder = found.sort((a, b) => a.number - b.number).map(({ path }) => path)
  return inOrder.filter(path => programFiles(path).length > 0)
}

function programFiles(checkpoint: string): string[] {
  if (!entriesOf(checkpoint, 'folder').includes('programs')) return []
  if (!entriesOf(checkpoint, 'file').includes('metadata.json')) return []
  return entriesOf(join(checkpoint, 'programs'), 'file').filter(name => name.endsWith('.json'))
}

/** Sorted; none where there is no such folder. Links are left out: they may lead out of what was named. */
function entriesOf(folder: string, kind: 'file' | 'folder'): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries
    .filter(entry => (kind === 'file' ? entry.isFile() : entry.isDirectory()))
    .map(({ name }) => name)
    .sort()
}

function programIn(path: string): StoredProgram | null {
  try {
    return parsePythonJson(readFileSync(path, 'utf8')) as StoredProgram | null
  } catch {
    return null
  }
}

function programOf(stored: StoredProgram, byId: ReadonlyMap<string, StoredProgram>): EvolvedProgram {
  const { language, timestamp, generation } = stored
  const metrics = stored.metrics ?? {}
  const parent = typeof stored.parent_id === 'string' ? stored.parent_id : null
  const numbers = Object.entries(metrics).filter((each): each is [string, number] => Number.isFinite(each[1]))
  const end = endOf(metrics)
  return {
    id: String(stored.id),
    parent,
    copyOf: parent !== null && isCopy(stored, byId.get(parent)) ? parent : null,
    generation: Number(generation ?? 0),
    code: String(stored.code),
    language: String(language ?? 'python').toLowerCase(),
    end,
    notRun: null,
    status: end.kind === 'finished' ? 'measured' : 'failed',
    metrics: end.kind === 'finished' ? Object.fromEntries(numbers) : {},
    storedAt: momentOfSeconds(timestamp),
    seconds: null,
    text: changesOf(stored),
    note: null,
    tags: [],
  }
}

/** A migrant, or what an empty island was started with: the same code and the same measurement under another name. */
function isCopy({ code, metadata, metrics }: StoredProgram, parent: StoredProgram | undefined): boolean {
  if (metadata?.['migrant'] === true) return true
  return parent?.code === code && JSON.stringify(parent?.metrics) === JSON.stringify(metrics)
}

/** Of an evaluation that failed it stores `error`, with `timeout` where that was why. */
function endOf(metrics: Readonly<Record<string, unknown>>): NonNullable<EvolvedProgram['end']> {
  if (metrics['timeout'] === true) return { kind: 'timed-out', reason: 'its evaluation took longer than it may' }
  const { error } = metrics
  if (error !== undefined && metrics['combined_score'] === undefined) {
    return {
      kind: 'crashed',
      reason: typeof error === 'string' ? error : 'its evaluation failed; OpenEvolve does not say why',
    }
  }
  const score = metrics['combined_score']
  if (typeof score === 'number' && !Number.isFinite(score)) return { kind: 'diverged', reason: `the score is ${score}` }
  return { kind: 'finished', reason: null }
}

/** What this step changed; otherwise the description of all changes since the first program. */
function changesOf({ metadata, changes_description }: StoredProgram): string | null {
  const written = [metadata?.['changes'], changes_description].filter(text => typeof text === 'string')
  return written.map(text => text.trim()).find(text => text !== '' && !/^full rewrite$/i.test(text)) ?? null
}
