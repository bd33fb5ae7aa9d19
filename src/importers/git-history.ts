/**
 * A git history: one commit a change, with its diff, its message, and its metric where a file that it changed or its
 * message has one. The line of first parents is read, the oldest first. Nothing of the repository is run, checked out or
 * fetched; names and addresses of its authors are not read.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type CommitLine, commitLine, type LineCommit } from '../repository/commit-line.ts'
import { git, offline } from '../repository/git.ts'
import { type ObjectReader, objectSizes, openObjects } from '../repository/object-reader.ts'
import { changedLines } from '../text/similarity.ts'
import { directionOfKept } from './direction.ts'
import { codeDiffs, codeNames, isNothing, longestDiff, unreadPaths } from './git-code.ts'
import { isBesideTheCode, isDocument } from './git-files.ts'
import { type LineRow, type LineStep, rowsOfLine, type Touched } from './git-line.ts'
import { readMessage, statementsIn } from './git-message.ts'
import { chooseMetric, type GitMetric, measurementIn, metricKey, nothingFound } from './git-metric.ts'
import { metricPlace } from './git-place.ts'
import { isRead, nameOf, type ReportOptions, reportsOfCommits } from './git-read-reports.ts'
import { onNearestReference } from './git-reference.ts'
import { addedUp, changesIn, type RelativeMetric, relativeMetric } from './git-relative.ts'
import { importedRows, keyOf, placeOf } from './git-rows.ts'
import type { ImportedHistory, ImportedMetric, ImportedRow, ImportedStatus } from './history.ts'
import type { Importer, ImportOptions, Source } from './importer.ts'
import { StatusCounts } from './status-counts.ts'

const mostCommits = 20_000

export const gitHistory: Importer = {
  name: 'git',
  title: 'git history',
  takes: ['columns', 'revisions'],
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
  const changes = commits.filter(changesCode).length
  const absolute = chooseMetric(reports, changes, asked)
  const relative = absolute === null && reading.place === null ? relativeMetric(messages, changes, asked) : null
  const metric = absolute ?? relative?.metric ?? null
  if (metric === null) throw nothingFound(reports, changes, source, asked)
  const measurements = relative?.measurements ?? reports.map(each => measurementIn(each, metric))

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
  const diffsBetween = (pairs: readonly (readonly [earlier: number, later: number])[]) =>
    codeDiffs(
      root,
      pairs.map(([earlier, later]) => ({
        from: commits[earlier]!.tree,
        to: commits[later]!.tree,
        changes: commits.slice(earlier + 1, later + 1).flatMap(({ changes }) => changes),
      })),
      sizes,
      isBeside,
      objects,
    )
  const { rows: inOrder, leftOut } = rowsOfLine(steps, metric.name)
  const found = await onNearestReference(inOrder, async pairs =>
    (await diffsBetween(pairs)).map(({ diff }) => (diff === null ? Number.POSITIVE_INFINITY : changedLineCount(diff))),
  )

  const tried = found.filter(row => !row.isReference && row.against !== null)
  const pairs = tried.map(row => [row.against!.code, row.code] as const)
  const diffs = await diffsBetween(pairs)
  const codeOf = new Map(tried.map((row, index) => [row, diffs[index]!]))
  const sums = relative === null ? null : addedUp(found, relative)
  const rows = importedRows(found, {
    source,
    commits,
    messages,
    codeOf: row => codeOf.get(row) ?? null,
    metricsOf: row => (sums === null ? row.measurement.metrics : { [metric.name]: sums.get(row)! }),
    resultsIn: text =>
      relative === null
        ? statementsIn(text, metric.name).filter(({ name }) => metric.spellings.has(metricKey(name)))
        : changesIn(text, relative.unit),
  })
  const tooLong = diffs.filter(({ diff }) => diff === null).length
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
    statuses: statusesOf(found, rows),
    guesses: [
      relative === null ? placesText(metric) : changesText(relative, commits[found[0]?.at ?? 0]!),
      ...(areMergesChanges
        ? ['a merge is a change of its own, as most of the commits that were measured are merges']
        : []),
      ...(tooLong > 0 ? [`${tooLong} changes have no diff: it is longer than ${longestDiff / 1024} KiB`] : []),
      ...(isCut ? [`only the newest ${mostCommits} commits were read; a range names older ones`] : []),
    ],
  }
}

function changedLineCount(diff: string): number {
  return changedLines(diff)
    .values()
    .reduce((sum, count) => sum + count, 0)
}

/** Where the user says that the metric stands, or what it is called. */
function readingOf({ metric, columns, progress }: ImportOptions): ReportOptions {
  const other = Object.keys(columns ?? {}).find(role => role !== 'metric')
  if (other !== undefined) {
    throw new Error(`--column: of a git repository only the metric can be named, and not the ${other}: leave that out`)
  }
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

function statusesOf(found: readonly LineRow[], rows: readonly ImportedRow[]): readonly ImportedStatus[] {
  const counts = new StatusCounts()
  for (const [index, { measurement }] of found.entries()) {
    if (measurement.status !== null) counts.add(measurement.status, rows[index]!.role, measurement.kind)
  }
  return counts.all()
}

function placesText({ name, places }: GitMetric): string {
  const list = [...places].map(([place, count]) => `${place === 'message' ? 'messages' : place} (${count} commits)`)
  return `the metric ${name} is read from ${list.slice(0, 5).join(', ')}`
}

function changesText({ metric, unit, start }: RelativeMetric, first: LineCommit): string {
  const { name, places } = metric
  const begin = `${start}${unit === '%' ? ' %' : ''} at ${placeOf(first)}`
  return `no commit says what ${name} is: the changes in ${unit} that ${places.get('message')} messages state are added up from ${begin}`
}
