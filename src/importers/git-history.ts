/**
 * A git history: one commit a change, with its diff, its message, and its metric where a file that it changed or its
 * message has one. The line of first parents is read, the oldest first. Nothing of the repository is run, checked out or
 * fetched; names and addresses of its authors are not read.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { contentHash } from '../experiment/json.ts'
import { type CommitLine, commitLine, type LineCommit } from '../repository/commit-line.ts'
import { git } from '../repository/git.ts'
import { type ObjectReader, objectSizes, openObjects } from '../repository/object-reader.ts'
import { withoutOutcome } from '../text/outcome-words.ts'
import { directionOfKept } from './direction.ts'
import { codeDiffs, codeNames, isNothing, longestDiff, unreadPaths } from './git-code.ts'
import { isBesideTheCode, isDocument, mayHoldResults } from './git-files.ts'
import { codeStep, type LineRow, type LineStep, rowsOfLine, type Touched } from './git-line.ts'
import { type GitMessage, readMessage } from './git-message.ts'
import { chooseMetric, type GitMetric, measurementIn } from './git-metric.ts'
import { isTable, type Report, reportOf, reportOfMessage, reportsOfTable } from './git-reports.ts'
import type {
  ImportedHistory,
  ImportedMetric,
  ImportedRole,
  ImportedRow,
  ImportedStatus,
  UnusableRow,
} from './history.ts'
import type { Importer, ImportOptions, Source } from './importer.ts'
import { meaningOf } from './status-words.ts'

const mostCommits = 20_000
const largestResults = 4 * 1024 * 1024

export const gitHistory: Importer = {
  name: 'git',
  title: 'git history',
  recognises: source => source.kind === 'folder' && isRepository(source.path),
  read: readGitHistory,
}

function isRepository(path: string): boolean {
  if (existsSync(join(path, '.git'))) return true
  const isFolder = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() ?? false
  return isFolder('objects') && isFolder('refs') && existsSync(join(path, 'HEAD'))
}

async function readGitHistory(source: Source, options: ImportOptions): Promise<readonly ImportedHistory[]> {
  if (source.kind !== 'folder')
    throw new Error(`${source.name} is no folder; a git history is read from its repository`)
  const root = await git(source.path, ['rev-parse', '--absolute-git-dir'])
  const line = await commitLine(root, options.revisions ?? 'HEAD', mostCommits)
  const objects = openObjects(root)
  try {
    return [await historyOf(root, line, objects, source.name, options)]
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
  const sizes = await objectSizes(root, objectsOf(commits))
  const reports = await reportsOf(commits, messages, sizes, objects, options)
  const metric = chooseMetric(reports, commits.filter(changesCode).length, source, options.metric)
  const hashes = commits.map(({ commit }) => commit)
  const measurements = reports.map(ofCommit => measurementIn(ofCommit, metric))

  const unread = unreadPaths(
    commits.slice(1).flatMap(({ changes }) => changes),
    sizes,
  )
  const places = new Set(metric.places.keys())
  const isBeside = (path: string) => isBesideTheCode(path) || unread.has(path) || places.has(path)
  const names = codeNames(commits, isBeside)
  const steps = commits.map((commit, at): LineStep => {
    const code = names[at]!
    const isUnchanged = at > 0 && code === names[at - 1]
    return {
      commit: commit.commit,
      isMerge: commit.parents.length > 1,
      message: messages[at]!,
      code,
      touches: isUnchanged ? touchedBeside(commit) : 'code',
      measurement: measurements[at]!,
    }
  })
  const { rows: lineRows, leftOut } = rowsOfLine(steps, metric.name)

  const tried = lineRows.filter(row => !row.isReference && row.against !== null)
  const pairs = tried.map(row => [codeStep(row.against!), codeStep(row)] as const)
  const diffs = await codeDiffs(root, commits, pairs, unread, isBeside, objects)
  const diffOf = new Map(tried.map((row, index) => [row, diffs[index]!]))
  const builtUpon = new Set(lineRows.map(row => row.against))
  const keyOf = (row: LineRow) => contentHash({ commit: commits[row.at]!.commit })

  const rows = lineRows.map((row): ImportedRow => {
    const commit = commits[codeStep(row)]!
    const text = row.isReference
      ? messages[codeStep(row)]!.text
      : row.changes.map(step => (row.changes.length === 1 ? messages[step]!.text : messages[step]!.subject)).join('\n')
    const { sentence, note } = wordsOf(text, metric, commit.commit)
    const diff = diffOf.get(row) ?? null
    return {
      key: keyOf(row),
      place: `commit ${commit.commit.slice(0, 7)}`,
      seed: null,
      intervention: { sentence, overrides: null, diff: diff?.diff || null, tags: [], origin: source },
      outcome: {
        kind: row.measurement.kind,
        reason: row.measurement.reason,
        metrics: row.measurement.metrics,
        exitCode: null,
        startedAt: null,
        finishedAt: new Date(commits[row.at]!.date).toISOString(),
        seconds: null,
        cost: null,
      },
      role: roleOf(row, builtUpon),
      against: row.against === null ? null : keyOf(row.against),
      commit: commit.commit,
      code: { commit: commit.commit, tree: commit.tree, treeAfterDiff: diff?.treeAfterDiff ?? null },
      note:
        [note, row.takenBackBy === null ? '' : `taken back by ${hashes[row.takenBackBy]!.slice(0, 7)}`]
          .filter(part => part !== '')
          .join('; ') || null,
    }
  })
  const unusable = leftOut.map(({ at, reason }): UnusableRow => {
    const { commit } = commits[at]!
    const place = `commit ${commit.slice(0, 7)}`
    return { key: contentHash({ commit }), place, reason, text: messages[at]!.subject.slice(0, 200) }
  })
  const tooLong = rows.filter(row => row.role !== 'reference' && row.against !== null && row.intervention.diff === null)
  return {
    source,
    name: null,
    description: null,
    metrics: metricsOf(metric, rows, options),
    constraints: options.constraints ?? [],
    rows,
    unusable,
    statuses: statusesOf(lineRows),
    guesses: [
      ...(isCut ? [`only the newest ${mostCommits} commits were read: name a range for older ones`] : []),
      placesText(metric),
      ...(tooLong.length > 0
        ? [`${tooLong.length} changes have no diff, because it is longer than ${longestDiff / 1024} KiB`]
        : []),
    ],
  }
}

function roleOf(row: LineRow, builtUpon: ReadonlySet<LineRow | null>): ImportedRole {
  if (row.isReference) return 'reference'
  if (builtUpon.has(row)) return 'kept'
  return row.takenBackBy !== null || row.measurement.kind !== 'finished' ? 'tried' : 'kept'
}

/** All that a commit changed; of a root, the results alone. */
function objectsOf(commits: readonly LineCommit[]): string[] {
  const objects = commits.flatMap(({ changes, parents }) =>
    changes
      .filter(({ path }) => parents.length > 0 || mayHoldResults(path))
      .flatMap(({ fromObject, toObject }) => [fromObject, toObject]),
  )
  return [...new Set(objects)].filter(object => !isNothing(object))
}

/** What each commit says: the files of results that it changed, then its message. */
async function reportsOf(
  commits: readonly LineCommit[],
  messages: readonly GitMessage[],
  sizes: ReadonlyMap<string, number>,
  objects: ObjectReader,
  options: ImportOptions,
): Promise<Report[][]> {
  const textOf = async (object: string) => {
    if (!((sizes.get(object) ?? Number.POSITIVE_INFINITY) <= largestResults)) return null
    return (await objects.read(object))?.toString('utf8') ?? null
  }
  const stepOf = new Map(commits.flatMap(({ commit }, at) => [[commit.slice(0, shortHash), at] as const]))
  const reports = commits.map((): Report[] => [])
  for (const [at, { changes }] of commits.entries()) {
    for (const { path, toMode, fromMode, fromObject, toObject } of changes) {
      if (!mayHoldResults(path) || !isFile(toMode)) continue
      const text = await textOf(toObject)
      if (text === null) continue
      if (isTable(path)) {
        const before = isFile(fromMode) ? await textOf(fromObject) : null
        for (const { report, commit } of reportsOfTable(path, text, before)) {
          // What a row names may be gone from this line: it was thrown away.
          const of = commit === null ? at : stepOf.get(commit.slice(0, shortHash))
          if (of !== undefined && of <= at) reports[of]!.push(report)
        }
      } else {
        const report = reportOf(path, text)
        if (report !== null) reports[at]!.push(report)
      }
    }
    if (at % 200 === 199) options.progress?.(at + 1)
  }
  for (const [at, message] of messages.entries()) {
    const report = reportOfMessage(message, options.metric?.name)
    if (report !== null) reports[at]!.push(report)
  }
  return reports
}

/** Digits of the hashes in tables. */
const shortHash = 7

/** No symbolic link: its content is a path. */
function isFile(mode: string): boolean {
  return mode.startsWith('100')
}

function changesCode({ changes }: LineCommit): boolean {
  return changes.some(({ path }) => !isBesideTheCode(path))
}

function touchedBeside({ changes }: LineCommit): Touched {
  if (changes.length === 0) return 'nothing'
  return changes.every(({ path }) => isDocument(path)) ? 'documents' : 'results'
}

/** What was tried, without the metric that the message states. */
function wordsOf(text: string, { spellings, name }: GitMetric, commit: string): { sentence: string; note: string } {
  const { tried, outcome } = withoutOutcome(text)
  void spellings
  void name
  return { sentence: tried || `the change of commit ${commit.slice(0, 7)}`, note: outcome }
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
  return [first, ...[...others].slice(0, 20).map(name => ({ name, direction: null, guessed: true }))]
}

function statusesOf(rows: readonly LineRow[]): ImportedStatus[] {
  const statuses = new Map<string, ImportedStatus>()
  for (const { measurement } of rows) {
    if (measurement.status === null) continue
    const word = measurement.status
    const meaning = meaningOf(word)?.kind ?? 'not known, so the number counts'
    statuses.set(word, { word, meaning, rows: (statuses.get(word)?.rows ?? 0) + 1 })
  }
  return [...statuses.values()]
}

function placesText({ name, places }: GitMetric): string {
  const list = [...places].map(([place, count]) => `${place === 'message' ? 'messages' : place} (${count} commits)`)
  return `the metric ${name} is read from ${list.slice(0, 5).join(', ')}`
}
