/**
 * MLflow's file store (`mlruns/`): a folder an experiment, a folder a run, a file a parameter, tag or metric. Symbolic links are passed
 * over, artifacts and models are not opened; deleted experiments (`.trash`) are left out.
 */
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Json, JsonObject } from '../experiment/json.ts'
import { isJsonObject } from '../experiment/json.ts'
import { linesOf, startOf } from './file-lines.ts'
import type { UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import { type MetricChoice, type MlflowRun, metricChoice, trackedMlflow } from './mlflow-run.ts'
import { readProgramYaml } from './program-yaml.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { unusableRow } from './unusable-row.ts'

export function isMlflowFolder(path: string): boolean {
  return experimentFolders(path).length > 0
}

/** One for each experiment of `mlruns`, of a folder that holds it, or of one experiment's folder. */
export async function readMlflowFiles(path: string, options: ImportOptions): Promise<TrackedExperiment[]> {
  const read: TrackedExperiment[] = []
  let rows = 0
  for (const { folder, meta } of experimentFolders(path)) {
    const name = textOf(meta['name']) ?? basename(folder)
    if (meta['lifecycle_stage'] === 'deleted') continue
    const runs: MlflowRun[] = []
    const unusable: UnusableRow[] = []
    for (const entry of folders(folder)) {
      const run = readRun(join(folder, entry.name), metricChoice(options))
      if (run === null) continue
      if (typeof run === 'string') {
        unusable.push(unusableRow(`run ${entry.name.slice(0, 8)}`, run, entry.name))
        continue
      }
      runs.push(run)
      if (++rows % 100 === 0) {
        options.progress?.(rows)
        // Lets a signal through: files are read one after the other.
        await new Promise(setImmediate)
        options.signal?.throwIfAborted()
      }
    }
    if (runs.length + unusable.length === 0) continue
    const experiment = trackedMlflow({ name, tags: readTexts(join(folder, 'tags')), runs }, options)
    read.push({ ...experiment, unusable: [...experiment.unusable, ...unusable] })
  }
  return read
}

interface ExperimentFolder {
  readonly folder: string
  readonly meta: JsonObject
}

function experimentFolders(path: string): ExperimentFolder[] {
  const own = experimentIn(path)
  if (own) return [own]
  const found = folders(path).flatMap(entry => experimentIn(join(path, entry.name)) ?? [])
  if (found.length > 0) return found.sort((a, b) => idOf(a) - idOf(b))
  const inside = folders(path).find(entry => entry.name === 'mlruns')
  return inside ? experimentFolders(join(path, inside.name)) : []
}

/** A folder of something else may have a meta.yaml of any kind. */
function experimentIn(folder: string): ExperimentFolder | null {
  let meta: JsonObject | null = null
  try {
    meta = readMeta(folder)
  } catch {
    return null
  }
  return meta && meta['experiment_id'] !== undefined && meta['run_id'] === undefined && meta['run_uuid'] === undefined
    ? { folder, meta }
    : null
}

function idOf({ meta }: ExperimentFolder): number {
  return Number(meta['experiment_id']) || 0
}

/** The run, why it cannot be read, or null for a folder that is no run's. */
function readRun(folder: string, choice: MetricChoice | null): MlflowRun | string | null {
  try {
    const meta = readMeta(folder)
    if (meta !== null) return runOf(folder, meta, choice)
    return /^[\da-f]{32}$/.test(basename(folder)) ? 'has no meta.yaml' : null
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Of a folder that somebody clears while it is read, or may not read as a whole.
    return code === undefined ? message : `a file of it cannot be read (${code})`
  }
}

function runOf(folder: string, meta: JsonObject, choice: MetricChoice | null): MlflowRun | null {
  const id = textOf(meta['run_id']) ?? textOf(meta['run_uuid'])
  if (id === null) return null
  const tags = readTexts(join(folder, 'tags'))
  const status = meta['status'] ?? null
  return {
    id,
    name: textOf(meta['run_name']) ?? tags.get('mlflow.runName') ?? textOf(meta['name']),
    status: typeof status === 'number' ? status : textOf(status),
    isDeleted: meta['lifecycle_stage'] === 'deleted',
    startedAt: numberOf(meta['start_time']),
    endedAt: numberOf(meta['end_time']),
    sourceVersion: textOf(meta['source_version']),
    params: readTexts(join(folder, 'params')),
    tags,
    metrics: readMetrics(join(folder, 'metrics'), choice),
  }
}

/** Null where there is no such file; throws a sentence where it cannot be read. */
function readMeta(folder: string): JsonObject | null {
  const path = join(folder, 'meta.yaml')
  // A link may lead anywhere.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return null
  try {
    const meta = readProgramYaml(startOf(path))
    if (isJsonObject(meta)) return meta
    throw new Error('it has no keys')
  } catch (error) {
    throw new Error(`its meta.yaml cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** Name and whole text of each file below a folder; a name with `/` in it is a file in a folder. */
function readTexts(folder: string): Map<string, string> {
  return new Map(files(folder).map(({ name, path }) => [name, startOf(path)]))
}

function readMetrics(folder: string, choice: MetricChoice | null): Map<string, number> {
  const metrics = new Map<string, number>()
  for (const { name, path } of files(folder)) {
    const read = readMetric(path)
    if (read === null) continue
    metrics.set(name, read.last)
    if (choice?.key === name && read[choice.choice] !== null) metrics.set(choice.name, read[choice.choice]!)
  }
  return metrics
}

/** A line a point: `timestamp value step`, without the step in old files, with more behind it in new ones. */
function readMetric(path: string): { last: number; min: number | null; max: number | null } | null {
  let last: readonly [step: number, timestamp: number, value: number] | null = null
  let min: number | null = null
  let max: number | null = null
  for (const line of linesOf(path)) {
    const [time, written, steps] = line.trim().split(/\s+/)
    if (written === undefined) continue
    const value = numberIn(written)
    const [step, timestamp] = [Number(steps ?? 0), Number(time)]
    if (value === null || !Number.isFinite(step) || !Number.isFinite(timestamp)) continue
    if (last === null || isLater([step, timestamp, value], last)) last = [step, timestamp, value]
    if (!Number.isFinite(value)) continue
    if (min === null || value < min) min = value
    if (max === null || value > max) max = value
  }
  return last && { last: last[2], min, max }
}

function isLater(point: readonly number[], before: readonly number[]): boolean {
  const differing = point.findIndex((value, index) => !Object.is(value, before[index]))
  return differing >= 0 && (point[differing]! > before[differing]! || Number.isNaN(before[differing]!))
}

/** Python writes `nan` and `inf`. */
function numberIn(text: string): number | null {
  if (/^[+-]?nan$/i.test(text)) return Number.NaN
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  const value = Number(text)
  return Number.isNaN(value) ? null : value
}

function files(folder: string, prefix = ''): { name: string; path: string }[] {
  return entries(folder).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return files(path, `${prefix}${entry.name}/`)
    return entry.isFile() ? [{ name: prefix + entry.name, path }] : []
  })
}

/** Not its links: one may lead anywhere. Not what is hidden either, which is where deleted experiments lie. */
function folders(path: string): Dirent[] {
  return entries(path).filter(entry => entry.isDirectory() && !entry.name.startsWith('.'))
}

function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

function textOf(value: Json | undefined): string | null {
  return value === undefined || value === null || value === '' ? null : String(value)
}

function numberOf(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
