/**
 * What the files of results that a commit changed say, and its message: numbers under names, not yet known to be the
 * metric. A file that a commit did not touch says nothing about that commit.
 */
import { saysBaseline } from './baseline.ts'
import { columnsOfHeader, isHeader } from './columns.ts'
import { type GitMessage, statementsIn } from './git-message.ts'
import type { MetricPlace } from './git-place.ts'
import { parsePythonJson } from './python-json.ts'
import { meaningOf } from './status-words.ts'
import { readTable } from './table.ts'
import { commitIn, looksLikeHash, numberIn } from './value.ts'

export interface Report {
  /** The file's path, or `message`. */
  readonly place: string
  /** By name, in the order of the source; NaN and infinities too. A dotted path where the source is nested. */
  readonly values: ReadonlyMap<string, number>
  /** The source's word for how it ended. */
  readonly status: string | null
  /** Whether it says that it is of what others are compared with. */
  readonly isBaseline: boolean
}

const mostValues = 200
const longestName = 100

/** What a file says of the commit that changed it: null where it holds no number under a name. */
export function reportOf(path: string, text: string): Report | null {
  const report = /\.jsonl?$/i.test(path) ? ofJson(path, text) : ofText(path, text)
  return report !== null && (report.values.size > 0 || report.status !== null) ? report : null
}

/** What the place that the user named says: the value as `name`, and what stands beside it. */
export function reportAt(place: MetricPlace, name: string, text: string): Report | null {
  const where = place.file ?? 'message'
  const found = { place: where, status: null, isBaseline: false }
  if (place.pattern !== null) {
    const value = numberIn([...text.matchAll(place.pattern)].at(-1)?.[1] ?? '')
    return value === null ? null : { ...found, values: new Map([[name, value]]) }
  }
  const report = reportOf(where, text)
  if (report === null || place.path === null) return report
  const value = report.values.get(place.path)
  return value === undefined ? null : { ...report, values: new Map([[name, value], ...report.values]) }
}

export function isTable(path: string): boolean {
  return /\.(tsv|csv)$/i.test(path)
}

export function reportOfMessage({ text, data, failure }: GitMessage, asked?: string): Report | null {
  const values = new Map<string, number>()
  collect(data, '', values)
  for (const { name, value } of statementsIn(text, asked)) if (!values.has(name)) values.set(name, value)
  const status = statusIn(data) ?? failure?.word ?? null
  return values.size > 0 || status !== null ? { place: 'message', values, status, isBaseline: false } : null
}

export interface TableReport {
  readonly report: Report
  /** The commit that its row names, as written; null for the newest row, which names none and is of the commit that brought it. */
  readonly commit: string | null
}

/**
 * What the rows say that a commit added to a table: those that name a commit, and the newest of those that do not.
 * `before`: the table's text before the commit, null for a new file.
 */
export function reportsOfTable(path: string, text: string, before: string | null): TableReport[] {
  const separated = (content: string) => (/\.csv$/i.test(path) ? content.replaceAll(',', '\t') : content)
  const [header, ...rows] = readTable(separated(text))
  if (header === undefined || !isHeader(header.cells)) return []
  const known = new Set(before === null ? [] : readTable(separated(before)).map(row => row.text))
  const columns = columnsOfHeader(header.cells, rows)
  const fresh = rows.filter(row => !known.has(row.text))
  const cellOf = (index: number | null, cells: readonly string[]) => (index === null ? null : (cells[index] ?? null))
  const commitOf = (cells: readonly string[]) => {
    const commit = commitIn(cellOf(columns.commit, cells) ?? '')
    return commit !== null && looksLikeHash(commit) ? commit.toLowerCase() : null
  }
  const named = fresh.filter(({ cells }) => commitOf(cells) !== null)
  // Rows of what was discarded are of code that the commit does not have, unless it is all that there is to say.
  const wasKept = (status: string | null) => status === null || meaningOf(status)?.role !== 'tried'
  const isLog = before === null && fresh.length > mostNewRows
  const newest =
    named.length > 0 || isLog
      ? undefined
      : (fresh.findLast(({ cells }) => wasKept(cellOf(columns.status, cells))) ?? fresh.at(-1))
  return [...named, ...(newest === undefined ? [] : [newest])].map(({ cells }) => {
    const values = columns.metrics.flatMap(({ index, name }) => {
      const value = numberIn(cells[index] ?? '')
      return value === null ? [] : [[name, value] as const]
    })
    const [commit, tag, description] = [columns.commit, columns.tag, columns.description].map(at => cellOf(at, cells))
    const isBaseline = saysBaseline({ commit: commit!, tag: tag!, description: description! })
    const status = cellOf(columns.status, cells)
    return { commit: commitOf(cells), report: { place: path, values: new Map(values), status, isBaseline } }
  })
}

/** A table that comes with more rows than these is a log of what was done elsewhere. */
const mostNewRows = 3

/** Of JSON lines, the last. */
function ofJson(path: string, text: string): Report | null {
  const content = /l$/i.test(path) ? (text.trimEnd().split('\n').at(-1) ?? '') : text
  let value: unknown
  try {
    value = parsePythonJson(content)
  } catch {
    return null
  }
  const values = new Map<string, number>()
  collect(value, '', values)
  return { place: path, values, status: statusIn(value), isBaseline: false }
}

function statusIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('status' in value)) return null
  return typeof value.status === 'string' ? value.status : null
}

function collect(value: unknown, path: string, values: Map<string, number>): void {
  if (values.size >= mostValues) return
  if (typeof value === 'number') {
    if (path !== '' && path.length <= longestName) values.set(path, value)
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, member] of Object.entries(value)) collect(member, path === '' ? key : `${path}.${key}`, values)
  }
}

/** A log: the last number under each name. */
function ofText(path: string, text: string): Report {
  const values = new Map(statementsIn(text.slice(-100_000)).map(({ name, value }) => [name, value]))
  return { place: path, values, status: null, isBaseline: false }
}
