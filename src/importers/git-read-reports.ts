/**
 * Reads what the commits of a line say about results: from files at each commit, and from messages.
 */
import type { LineCommit } from '../repository/commit-line.ts'
import type { ObjectReader } from '../repository/object-reader.ts'
import { mayHoldResults } from './git-files.ts'
import type { GitMessage } from './git-message.ts'
import type { MetricPlace } from './git-place.ts'
import { isTable, type Report, reportAt, reportOf, reportOfMessage, reportsOfTable } from './git-reports.ts'

const largestResults = 1024 * 1024

export interface ReportSource {
  readonly commits: readonly LineCommit[]
  readonly messages: readonly GitMessage[]
  readonly objects: ObjectReader
  /** Bytes of the objects that may be read. */
  readonly sizes: ReadonlyMap<string, number>
}

export interface ReportOptions {
  /** The metric, where the user names one. */
  readonly name?: string
  /** Where it stands, where the user says so; then nothing else is read. */
  readonly place: MetricPlace | null
  readonly progress?: (commits: number) => void
}

/** Whether a file is read for results. */
export function isRead(path: string, place: MetricPlace | null): boolean {
  return place === null ? mayHoldResults(path) : path === place.file
}

/** What each commit says: the files of results that it changed, then its message. */
export async function reportsOfCommits(source: ReportSource, options: ReportOptions): Promise<Report[][]> {
  const { commits, messages } = source
  const { place, name } = options
  const stepOf = new Map(commits.flatMap(({ commit }, at) => [[commit.slice(0, shortHash), at] as const]))
  const reports = commits.map((): Report[] => [])
  for (const [at, { changes }] of commits.entries()) {
    for (const { path, toMode, fromMode, fromObject, toObject } of changes) {
      if (!isRead(path, place) || !isFile(toMode)) continue
      const text = await contentOf(source, toObject)
      if (text === null) continue
      if (isTable(path) && place?.pattern == null) {
        const before = isFile(fromMode) ? await contentOf(source, fromObject) : null
        for (const { report, commit } of reportsOfTable(path, text, before)) {
          // What a row names may be gone from this line: it was thrown away.
          const of = commit === null ? at : stepOf.get(commit.slice(0, shortHash))
          if (of !== undefined && of <= at) reports[of]!.push(report)
        }
        continue
      }
      // Of a file that grows line by line, a commit that does not touch the last says nothing new.
      const before = isJsonLines(path) && isFile(fromMode) ? await contentOf(source, fromObject) : null
      if (before !== null && lastLine(before) === lastLine(text)) continue
      add(at, place === null ? reportOf(path, text) : reportAt(place, nameOf(place, name), text))
    }
    if (at % 200 === 199) options.progress?.(at + 1)
  }
  for (const [at, message] of messages.entries()) {
    if (place === null) add(at, reportOfMessage(message, name))
    else if (place.file === null) add(at, reportAt(place, nameOf(place, name), commits[at]!.message))
  }
  return reports

  function add(at: number, report: Report | null): void {
    if (report !== null) reports[at]!.push(report)
  }
}

/** What a metric is called of which the user says only where it stands. */
export function nameOf(place: MetricPlace, name: string | undefined): string {
  return name ?? place.path?.split('.').at(-1) ?? 'metric'
}

function isJsonLines(path: string): boolean {
  return /\.jsonl$/i.test(path)
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)!
}

async function contentOf({ objects, sizes }: ReportSource, object: string): Promise<string | null> {
  if (!((sizes.get(object) ?? Number.POSITIVE_INFINITY) <= largestResults)) return null
  return (await objects.read(object))?.toString('utf8') ?? null
}

/** Digits of the hashes in tables. */
const shortHash = 7

/** No symbolic link: its content is a path. */
function isFile(mode: string): boolean {
  return mode.startsWith('100')
}
