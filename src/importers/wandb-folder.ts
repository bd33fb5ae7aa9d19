/**
 * W&B's local folders: `wandb/`, with a folder a run, and in it the log and, where the run was online, files beside it. The log says
 * more, so files are read for what it lacks. Symbolic links (`latest-run`) are passed over.
 */
import { type Dirent, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { unusableRow } from './unusable-row.ts'
import { readWandbFiles } from './wandb-files.ts'
import { isWandbFile } from './wandb-frames.ts'
import { readWandbLog, type WandbLog } from './wandb-log.ts'
import { trackedWandb, type WandbRun } from './wandb-run.ts'

/** A folder of a run, or a log that lies by itself. */
interface Place {
  readonly folder: string | null
  readonly log: string | null
}

export function isWandbFolder(path: string): boolean {
  return placesIn(path).length > 0
}

/** One for each project. `path`: `wandb`, a folder that holds it, a run's folder, or a `.wandb` file. */
export async function readWandbFolder(path: string, options: ImportOptions): Promise<TrackedExperiment[]> {
  const places = path.endsWith('.wandb') ? [{ folder: null, log: path }] : placesIn(path)
  const runs: WandbRun[] = []
  const unusable: UnusableRow[] = []
  const guesses: string[] = []
  for (const [index, place] of places.entries()) {
    const name = basename(place.folder ?? place.log!)
    const read = readPlace(place, options)
    if (typeof read === 'string') unusable.push(unusableRow(name, read, name))
    else {
      runs.push(read.run)
      if (read.damaged > 0)
        guesses.push(`the log of run ${read.run.id} is damaged: ${read.damaged} places were left out`)
    }
    options.progress?.(index + 1)
    // Lets a signal through: runs are read one after the other.
    await new Promise(setImmediate)
    options.signal?.throwIfAborted()
  }
  const merged = mergedRuns(runs)
  const unsaid = merged.filter(run => run.state === null).length
  if (unsaid > 0) guesses.push(`${unsaid} runs have no log that says how they ended: they count as finished`)
  const [first, ...others] = trackedWandb(merged, guesses, options)
  if (!first && unusable[0]) {
    throw new Error(`${basename(path)} has no run that can be read: ${unusable[0].place} ${unusable[0].reason}`)
  }
  return first ? [{ ...first, unusable: [...first.unusable, ...unusable] }, ...others] : []
}

/** The run, or why it cannot be used. */
function readPlace(place: Place, options: ImportOptions): { run: WandbRun; damaged: number } | string {
  const keepPersonal = options.keepPersonal ?? false
  const log = place.log === null ? null : logOf(place.log, keepPersonal)
  if (typeof log === 'string') return log
  const files = place.folder === null ? null : filesOf(place.folder, keepPersonal)
  if (log && files && typeof files !== 'string') {
    const config = Object.keys(log.run.config).length > 0 ? log.run.config : files.config
    const run = { ...log.run, config, commit: log.run.commit ?? files.commit }
    return { run, damaged: log.damaged }
  }
  if (log) return log
  if (typeof files === 'string') return files
  if (files) return { run: files, damaged: 0 }
  return place.log === null ? 'has neither a log nor files' : 'its log ends before it says which run it is of'
}

function logOf(path: string, keepPersonal: boolean): WandbLog | string | null {
  try {
    return readWandbLog(path, keepPersonal)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return `its log cannot be read (${code ?? message})`
  }
}

function filesOf(folder: string, keepPersonal: boolean): WandbRun | string | null {
  try {
    return readWandbFiles(folder, keepPersonal)
  } catch (error) {
    return (error as Error).message
  }
}

/** A run that was resumed has a folder for each time it ran: what was said last counts. */
function mergedRuns(runs: readonly WandbRun[]): WandbRun[] {
  const byId = Map.groupBy(runs, run => `${run.project ?? ''} ${run.id}`)
  return [...byId.values()].map(parts =>
    parts.reduce((before, after) => ({
      ...after,
      name: after.name ?? before.name,
      notes: after.notes ?? before.notes,
      config: { ...before.config, ...after.config },
      summary: new Map([...before.summary, ...after.summary]),
      history: mergedHistory(before, after),
      startedAt: before.startedAt ?? after.startedAt,
      commit: before.commit ?? after.commit,
    })),
  )
}

function mergedHistory(before: WandbRun, after: WandbRun): WandbRun['history'] {
  const merged = new Map(before.history)
  for (const [name, { last, min, max }] of after.history) {
    const earlier = merged.get(name)
    const lowest = [min, earlier?.min ?? null].filter(value => value !== null)
    const highest = [max, earlier?.max ?? null].filter(value => value !== null)
    merged.set(name, {
      last,
      min: lowest.length > 0 ? Math.min(...lowest) : null,
      max: highest.length > 0 ? Math.max(...highest) : null,
    })
  }
  return merged
}

const runFolder = /^(?:offline-)?run-(\d{8}_\d{6})-/

function placesIn(path: string): Place[] {
  const own = placeOf(path)
  // A run's folder may have been given another name.
  if (own && (runFolder.test(basename(path)) || hasWandbFiles(path))) return [own]
  const found = entries(path).flatMap(entry => {
    if (entry.isDirectory() && runFolder.test(entry.name)) return placeOf(join(path, entry.name)) ?? []
    return entry.isFile() && isLog(path, entry) ? [{ folder: null, log: join(path, entry.name) }] : []
  })
  if (found.length > 0) return found.sort((a, b) => (timeIn(a) < timeIn(b) ? -1 : 1))
  const inside = entries(path).find(entry => entry.isDirectory() && entry.name === 'wandb')
  return inside ? placesIn(join(path, inside.name)) : []
}

function placeOf(folder: string): Place | null {
  const inside = entries(folder)
  const log = inside.find(entry => entry.isFile() && isLog(folder, entry))
  const hasFiles = inside.some(entry => entry.isDirectory() && entry.name === 'files')
  return log || hasFiles ? { folder, log: log ? join(folder, log.name) : null } : null
}

function hasWandbFiles(folder: string): boolean {
  return entries(join(folder, 'files')).some(entry => /^wandb-(summary|metadata)\.json$/.test(entry.name))
}

function isLog(folder: string, entry: Dirent): boolean {
  return entry.name.endsWith('.wandb') && isWandbFile(join(folder, entry.name))
}

/** When it began by the clock of its machine, which is an order, if no moment. */
function timeIn({ folder, log }: Place): string {
  return runFolder.exec(basename(folder ?? log!))?.[1] ?? basename(log ?? '')
}

function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
