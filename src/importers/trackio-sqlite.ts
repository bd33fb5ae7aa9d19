/**
 * Trackio's databases (`PROJECT.db`), of any version: one project a file, and a folder of them. A run's metric is its last value.
 * Trackio does not keep how a run ended, so every run that logged a number counts as finished. Its exports in parquet are refused.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Importer, ImportOptions, Source } from './importer.ts'
import { isSqliteWith, openSqlite } from './sqlite-file.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'
import { type LoggedRun, loggedRuns } from './trackio-runs.ts'
import { unusableRow } from './unusable-row.ts'

export const trackio: Importer = {
  name: 'trackio',
  title: "Trackio (a project's database, or a folder of them)",
  takes: ['reference'],
  recognises: isTrackio,
  read: async (source, options) => {
    if (source.kind === 'address')
      throw new Error(`${source.name} is an address; name the project's database on this machine`)
    return trackedHistories(readTrackio(source, options), source.name, options)
  },
}

type Local = Exclude<Source, { readonly kind: 'address' }>

/** A database of a project, a folder of such, or an export that `readTrackio` refuses with the way out. */
export function isTrackio(source: Source): boolean {
  if (source.kind === 'address') return false
  if (source.kind === 'file') return isProject(source.path) || isExport([source.name])
  return projectsIn(source.path).length > 0 || isExport(readdirSync(source.path))
}

/** One for each project. Throws a sentence where a file cannot be read, and for exports. */
export function readTrackio(source: Local, options: ImportOptions): TrackedExperiment[] {
  const paths = source.kind === 'folder' ? projectsIn(source.path) : [source.path]
  if (paths.length === 0 || source.path.endsWith('.parquet')) {
    throw new Error(
      `${source.name} is an export of Trackio in parquet, which is not read; import the project's database instead: PROJECT.db in the folder that TRACKIO_DIR names, ~/.cache/huggingface/trackio if it is not set`,
    )
  }
  return paths.map(path => readProject(path, options))
}

function isProject(path: string): boolean {
  if (!isSqliteWith(path, ['metrics', 'configs'])) return false
  using file = openSqlite(path)
  const columns = file.columnsOf('metrics')
  return ['run_name', 'step', 'metrics'].every(column => columns.has(column))
}

function projectsIn(folder: string): string[] {
  // Links are not followed: they may lead out of the folder.
  const files = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isFile())
  const names = files.map(({ name }) => name).filter(name => name.endsWith('.db'))
  return names
    .map(name => join(folder, name))
    .filter(isProject)
    .sort()
}

function isExport(names: readonly string[]): boolean {
  return names.some(name => /_(configs|system|traces)\.parquet$/.test(name)) || names.includes('metrics.parquet')
}

function nameOf(path: string): string {
  return basename(path).replace(/\.db$/, '')
}

function readProject(path: string, options: ImportOptions): TrackedExperiment {
  using file = openSqlite(path)
  const logged = loggedRuns(file, options)
  const measured = logged.filter(({ last }) => last.size > 0)
  const silent = logged.filter(({ last }) => last.size === 0)
  return {
    name: nameOf(path),
    description: null,
    objective: options.metric ? { name: options.metric.name, direction: options.metric.direction ?? null } : null,
    constraints: [],
    runs: measured.map(trackedRun),
    unusable: silent.map(run => unusableRow(placeOf(run), 'logged no number', JSON.stringify(run.configuration))),
    guesses: [
      'how runs ended: Trackio does not keep it, so those that logged a number count as finished',
      ...shortRuns(measured),
    ],
  }
}

function trackedRun(run: LoggedRun): TrackedRun {
  const [finite, notFinite] = [true, false].map(wanted =>
    [...run.last].filter(([, { value }]) => Number.isFinite(value) === wanted),
  )
  return {
    id: run.id,
    name: run.name,
    place: placeOf(run),
    configuration: run.configuration,
    seed: null,
    kind: 'finished',
    status: null,
    reason: null,
    metrics: Object.fromEntries(finite!.map(([name, { value }]) => [name, value])),
    notFinite: notFinite!.map(([name]) => name),
    startedAt: run.startedAt,
    finishedAt: run.lastAt,
    seconds: run.startedAt && run.lastAt ? (Date.parse(run.lastAt) - Date.parse(run.startedAt)) / 1000 : null,
    text: null,
    note: run.alerts.join('; ') || null,
    tags: run.group === null ? [] : [run.group],
    isBaseline: false,
    parent: null,
    diff: null,
    commit: null,
  }
}

function placeOf({ name, id }: LoggedRun): string {
  const called = /^run\b/i.test(name) ? name : `run ${name}`
  return name === id ? called : `${called} (${id.slice(0, 8)})`
}

/** A run that was stopped early looks like one that did badly; the steps are all there is to tell them apart. */
function shortRuns(runs: readonly LoggedRun[]): string[] {
  const steps = runs.map(run => run.steps).sort((a, b) => a - b)
  const usual = steps[Math.floor(steps.length / 2)] ?? 0
  const short = runs.filter(run => run.steps < usual / 2).map(({ name }) => name)
  if (short.length === 0) return []
  const named = short.length > 5 ? `${short.slice(0, 5).join(', ')} and ${short.length - 5} more` : short.join(', ')
  return [`${named}: counted as finished, although they have less than half of the ${usual} steps that is usual here`]
}
