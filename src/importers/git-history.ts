/**
 * A git history: one commit a change, with its diff, its message, and its metric where a file that it changed or its
 * message has one. The line of first parents is read, the oldest first. Nothing of the repository is run, checked out or
 * fetched; names and addresses of its authors are not read.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { contentHash } from '../experiment/json.ts'
import { type CommitLine, commitLine, type LineCommit } from '../repository/commit-line.ts'
import { git, offline } from '../repository/git.ts'
import { type ObjectReader, objectSizes, openObjects } from '../repository/object-reader.ts'
import { directionOfKept } from './direction.ts'
import { type CodeDiff, codeDiffs, codeNames, isNothing, longestDiff, unreadPaths } from './git-code.ts'
import { isBesideTheCode, isDocument } from './git-files.ts'
import { codeStep, type LineRow, type LineStep, rowsOfLine, type Touched } from './git-line.ts'
import { type GitMessage, readMessage } from './git-message.ts'
import { chooseMetric, type GitMetric, measurementIn, metricKey } from './git-metric.ts'
import { metricPlace } from './git-place.ts'
import { isRead, nameOf, type ReportOptions, reportsOfCommits } from './git-read-reports.ts'
import { wordsOfMessage } from './git-sentence.ts'
import type { ImportedHistory, ImportedMetric, ImportedRole, ImportedRow, ImportedStatus } from './history.ts'
import type { Importer, ImportOptions, Source } from './importer.ts'
import { StatusCounts } from './status-counts.ts'

const mostCommits = 20_000

export const gitHistory: Importer = {
  name: 'git',
  title: 'git history',
  recognises: source => source.kind === 'folder' && isRepository(source.path),
  read: async (source, options) => [await readGitHistory(source, options)],
}

function isRepository(path: string): boolean {
  if (existsSync(join(path, '.git'))) return true
  const isFolder = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() ?? false
  return isFolder('objects') && isFolder('refs') && existsSync(join(path, 'HEAD'))
}

async function readGitHistory(source: Source, options: ImportOptions): Promise<ImportedHistory> {
  if (source.kind !== 'folder') {
    throw new Error(`${source.name} is no folder; a git history is read from its repository on this machine`)
  }
  const root = await git(source.path, ['rev-parse', '--absolute-git-dir'], { variables: offline })
  const line = await commitLine(root, options.revisions ?? 'HEAD', mostCommits)
  const objects = openObjects(root)
  try {
    return await historyOf(root, line, objects, source.name, options)
  } finally {
    await objects.close()
  }
}

async function historyOf(
  root: string,
  { commits, isCut }: CommitLine,
  objects: ObjectReader,
  source: string,
  options: ImportOptions,
): Promise<ImportedHistory> {
  const messages = commits.map(({ message }) => readMessage(message))
  const reading = readingOf(options)
  const sizes = await objectSizes(root, objectsOf(commits, reading))
  const reports = await reportsOfCommits({ commits, messages, objects, sizes }, reading)
  const asked = askedFor(reading, options)
  const metric = chooseMetric(reports, commits.filter(changesCode).length, source, asked)
  const measurements = reports.map(each => measurementIn(each, metric))

  const unread = unreadPaths(
    commits.slice(1).flatMap(({ changes }) => changes),
    sizes,
  )
  const isBeside = (path: string) => isBesideTheCode(path) || unread.has(path) || metric.files.has(path)
  const codes = codeNames(commits, isBeside)
  const isMerge = ({ parents }: LineCommit) => parents.length > 1
  const measured = commits.filter((_, at) => measurements[at] !== null)
  const areMergesChanges = measured.filter(isMerge).length > measured.length / 2
  const steps = commits.map(
    (commit, at): LineStep => ({
      commit: commit.commit,
      isMerge: isMerge(commit) && !areMergesChanges,
      message: messages[at]!,
      code: codes[at]!,
      touches: at > 0 && codes[at] === codes[at - 1] ? touchedBeside(commit) : 'code',
      measurement: measurements[at]!,
    }),
  )
  const { rows: found, leftOut } = rowsOfLine(steps, metric.name)

  const tried = found.filter(row => !row.isReference && row.against !== null)
  const pairs = tried.map(row => [codeStep(row.against!), codeStep(row)] as const)
  const diffs = await codeDiffs(root, commits, pairs, unread, isBeside, objects)
  const builtUpon = new Set(found.map(row => row.against))
  const tooLong = diffs.filter(({ diff }) => diff === null).length
  const codeOf = new Map(tried.map((row, index) => [row, diffs[index]!]))
  const rows = found.map(row =>
    rowOf(row, roleOf(row, builtUpon), codeOf.get(row) ?? null, commits, messages, metric, source),
  )
  return {
    source,
    name: null,
    description: null,
    metrics: metricsOf(metric, rows, options),
    constraints: [],
    rows,
    unusable: leftOut.map(({ at, reason }) => ({
      key: keyOf(commits[at]!),
      place: placeOf(commits[at]!),
      reason,
      text: messages[at]!.subject.slice(0, 200),
    })),
    statuses: statusesOf(found, builtUpon),
    guesses: [
      placesText(metric),
      ...(areMergesChanges
        ? ['a merge is a change of its own, as most of the commits that were measured are merges']
        : []),
      ...(tooLong > 0 ? [`${tooLong} changes have no diff: it is longer than ${longestDiff / 1024} KiB`] : []),
      ...(isCut ? [`only the newest ${mostCommits} commits were read; a range names older ones`] : []),
    ],
  }
}

/** Where the user says that the metric stands, or what it is called. */
function readingOf({ metric, columns, progress }: ImportOptions): ReportOptions {
  const column = columns?.['metric']
  const place = column === undefined ? null : metricPlace(column)
  const name = metric?.name ?? (place === null ? column : undefined)
  return { place, ...(name === undefined ? {} : { name }), ...(progress === undefined ? {} : { progress }) }
}

function askedFor({ place, name }: ReportOptions, { metric }: ImportOptions): ImportOptions['metric'] {
  const named = place !== null && (place.path !== null || place.pattern !== null) ? nameOf(place, name) : name
  if (named === undefined) return undefined
  return metric?.direction === undefined ? { name: named } : { name: named, direction: metric.direction }
}

/** All that a commit changed; of a root, the results alone. */
function objectsOf(commits: readonly LineCommit[], { place }: ReportOptions): string[] {
  const objects = commits.flatMap(({ changes, parents }) =>
    changes
      .filter(({ path }) => parents.length > 0 || isRead(path, place))
      .flatMap(({ fromObject, toObject }) => [fromObject, toObject]),
  )
  return [...new Set(objects)].filter(object => !isNothing(object))
}

function changesCode({ changes }: LineCommit): boolean {
  return changes.some(({ path }) => !isBesideTheCode(path))
}

function touchedBeside({ changes }: LineCommit): Touched {
  if (changes.length === 0) return 'nothing'
  return changes.every(({ path }) => isDocument(path)) ? 'documents' : 'results'
}

function rowOf(
  row: LineRow,
  role: ImportedRole,
  code: CodeDiff | null,
  commits: readonly LineCommit[],
  messages: readonly GitMessage[],
  metric: GitMetric,
  source: string,
): ImportedRow {
  const commit = commits[codeStep(row)]!
  // Of several commits that are one change, what stands below the subjects would be too much.
  const [step = codeStep(row), ...more] = row.changes
  const text = more.length === 0 ? messages[step]!.text : row.changes.map(each => messages[each]!.subject).join('\n')
  const words = wordsOfMessage(text, metric.name, name => metric.spellings.has(metricKey(name)))
  const takenBack = row.takenBackBy === null ? '' : `taken back by ${commits[row.takenBackBy]!.commit.slice(0, 7)}`
  return {
    key: keyOf(commits[row.at]!, commit),
    place: placeOf(commit),
    seed: null,
    intervention: {
      sentence: words.sentence || `the change of ${placeOf(commit)}`,
      overrides: null,
      diff: code?.diff || null,
      tags: [],
      origin: source,
    },
    outcome: {
      kind: row.measurement.kind,
      reason: row.measurement.reason,
      metrics: row.measurement.metrics,
      exitCode: null,
      startedAt: null,
      finishedAt: momentOf(commits[row.at]!.date),
      seconds: null,
      cost: null,
    },
    role,
    against: row.against === null ? null : keyOf(commits[row.against.at]!, commits[codeStep(row.against)]!),
    commit: commit.commit,
    code: { commit: commit.commit, tree: commit.tree, treeAfterDiff: code?.treeAfterDiff ?? null },
    note: [words.note, takenBack].filter(part => part !== '').join('; ') || null,
  }
}

/** A result and the code that it is of: two results may be written down at once. */
function keyOf({ commit }: LineCommit, code?: LineCommit): string {
  return contentHash({ commit, code: code?.commit ?? commit })
}

function placeOf({ commit }: LineCommit): string {
  return `commit ${commit.slice(0, 7)}`
}

/** Null for a date that git could not make sense of. */
function momentOf(date: string): string | null {
  const moment = new Date(date)
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}

/** What others were tried on was kept, whatever was said of it later. */
function roleOf(row: LineRow, builtUpon: ReadonlySet<LineRow | null>): ImportedRole {
  if (row.isReference) return 'reference'
  if (builtUpon.has(row)) return 'kept'
  return row.takenBackBy !== null || row.measurement.kind !== 'finished' ? 'tried' : 'kept'
}

function metricsOf(
  { name, direction }: GitMetric,
  rows: readonly ImportedRow[],
  { metric }: ImportOptions,
): ImportedHistory['metrics'] {
  const values = rows.filter(row => row.role !== 'tried').flatMap(row => row.outcome.metrics[name] ?? [])
  const guessed = metric?.direction === undefined
  const first: ImportedMetric = { name, direction: direction ?? directionOfKept(values), guessed }
  const others = new Set(rows.flatMap(row => Object.keys(row.outcome.metrics)))
  others.delete(name)
  return [first, ...[...others].map(name => ({ name, direction: null, guessed: true }))]
}

function statusesOf(rows: readonly LineRow[], builtUpon: ReadonlySet<LineRow | null>): readonly ImportedStatus[] {
  const counts = new StatusCounts()
  for (const row of rows) {
    const { status, kind } = row.measurement
    if (status !== null) counts.add(status, roleOf(row, builtUpon), kind)
  }
  return counts.all()
}

function placesText({ name, places }: GitMetric): string {
  const list = [...places].map(([place, count]) => `${place === 'message' ? 'messages' : place} (${count} commits)`)
  return `the metric ${name} is read from ${list.slice(0, 5).join(', ')}`
}
