/**
 * karpathy's results.tsv and its relatives: tab-separated, a row an experiment, written by an agent as it goes. The metric's
 * column is given, or guessed from the header. Rows that cannot be used are listed with the reason; none is dropped silently.
 *
 * The reference of a row is the row that was *kept* before it, not the best so far: that is the code it was tried on.
 */
import { readFile } from 'node:fs/promises'
import type { Direction } from '../experiment/environment.ts'
import { contentHash, type JsonObject } from '../experiment/json.ts'
import { type Columns, columnsOfHeader, columnsWithoutHeader, isHeader } from './columns.ts'
import { directionOfKept, directionOfName } from './direction.ts'
import type { ImportedHistory, ImportedMetric, ImportedRole, ImportedRow, UnusableRow } from './history.ts'
import type { Importer } from './importer.ts'
import { readRow, type UsableRow } from './results-row.ts'
import { StatusCounts } from './status-counts.ts'
import { readTable, type TableLine } from './table.ts'

export const resultsTable: Importer = {
  name: 'table',
  title: 'a table of results (results.tsv and its relatives)',
  recognises: source => source.kind === 'file' && /\.tsv$/i.test(source.name),
  read: async (source, { metric, columns }) => {
    if (source.kind !== 'file') throw new Error(`${source.name} is no file, and a table of results is one`)
    const text = await readFile(source.path, 'utf8')
    const column = columns?.['metric']
    return [
      readResultsTsv(text, source.name, {
        ...(metric ? { metric } : {}),
        ...(column === undefined ? {} : { column }),
      }),
    ]
  },
}

export interface ResultsOptions {
  /** The objective, as the environment names it. Without it the first column that can be one is taken. */
  readonly metric?: { readonly name: string; readonly direction?: Direction }
  /** The column it stands in, where that has another name. */
  readonly column?: string
}

/** Throws a sentence when the text is no results table, or has no column for the metric. */
export function readResultsTsv(text: string, source: string, options: ResultsOptions = {}): ImportedHistory {
  const { lines, columns } = tableOf(text, source, options)
  const objective = objectiveColumn(columns, source, options)
  const name = options.metric?.name ?? columns.names[objective]!
  const rows: ImportedRow[] = []
  const unusable: UnusableRow[] = []
  const statuses = new StatusCounts()
  const linesOfContent = new Map<string, number[]>()
  /** What was kept last in each of the environments that share the file; null where something was tried before anything was kept. */
  const kept = new Map<string, Kept | null>()
  for (const line of lines) {
    const content = contentHash(line.cells)
    const copies = linesOfContent.get(content) ?? []
    const key = copies.length === 0 ? content : `${content}#${copies.length + 1}`
    linesOfContent.set(content, [...copies, line.line])
    const read =
      copies.length > 0
        ? { reason: `the same as line ${copies[0]}, word for word: a copy, not a second run` }
        : readRow(line, columns, objective, name)
    const placed = 'reason' in read ? read : place(read, kept.get(read.series))
    if ('reason' in read || 'reason' in placed) {
      const { reason } = 'reason' in read ? read : (placed as { reason: string })
      unusable.push({ key, place: `line ${line.line}`, reason, text: shortened(line.text) })
      continue
    }
    const { role, settings, against } = placed
    if (read.status !== null) statuses.add(read.status, role, read.outcome.kind)
    rows.push({
      key,
      place: `line ${line.line}`,
      seed: null,
      intervention: {
        sentence: [read.sentence, settings === null ? '' : settingsText(settings)]
          .filter(part => part !== '')
          .join(': '),
        overrides: settings,
        diff: null,
        tags: [],
        origin: source,
      },
      outcome: read.outcome,
      role,
      against,
      commit: read.commit,
      code: null,
      note: read.note,
    })
    const builtUpon = role === 'kept' || (role === 'reference' && against === null)
    if (builtUpon) kept.set(read.series, { key, role, name: read.name, options: read.options })
    else if (!kept.has(read.series)) kept.set(read.series, null)
  }
  const metrics = metricsOf(columns, objective, rows, name, options)
  return {
    source,
    name: null,
    description: null,
    metrics,
    constraints: [],
    rows,
    unusable,
    statuses: statuses.all(),
    guesses: metrics[0].guessed ? [`the metric ${metrics[0].name}: ${whyGuessed(metrics[0], options)}`] : [],
  }
}

/** A row that later rows were tried on. */
interface Kept {
  readonly key: string
  readonly role: ImportedRole
  readonly name: string | null
  readonly options: JsonObject | null
}

/** The row's place in the log, given what was kept before it; `before` is undefined for the first row. */
function place(
  read: UsableRow,
  before: Kept | null | undefined,
): { role: ImportedRole; settings: JsonObject | null; against: string | null } | { reason: string } {
  const changed = changedSettings(read.options, before?.options ?? null)
  const unchanged = changed !== null && Object.keys(changed).length === 0
  const role = unchanged ? 'reference' : roleOf(read, before === undefined)
  if (role !== 'reference') return { role, settings: changed, against: before?.key ?? null }
  if (before !== undefined && read.outcome.kind !== 'finished') {
    return { reason: `a reference that did not finish measures nothing (${read.outcome.reason})` }
  }
  const again = unchanged || (before?.role === 'reference' && read.name !== null && before.name === read.name)
  return { role, settings: read.options, against: again ? before!.key : null }
}

function tableOf(text: string, source: string, options: ResultsOptions): { lines: TableLine[]; columns: Columns } {
  const table = readTable(text)
  const first = table[0]
  if (!first) throw new Error(`${source} is empty: expected a tab-separated table with one row for each experiment`)
  if (isHeader(first.cells)) {
    const lines = table.slice(1)
    return { lines, columns: columnsOfHeader(first.cells, lines) }
  }
  const columns = columnsWithoutHeader(table, options.column ?? options.metric?.name ?? 'metric')
  if (columns !== null) return { lines: table, columns }
  throw new Error(
    `${source} is not a results table: line ${first.line} is not a header, and no column holds statuses (keep, discard, crash, …) ` +
      'behind a column of numbers. Add a header line such as: commit, val_bpb, memory_gb, status, description, separated by tabs',
  )
}

function objectiveColumn(columns: Columns, source: string, options: ResultsOptions): number {
  const wanted = options.column ?? options.metric?.name
  if (wanted !== undefined) {
    const index = columns.names.findIndex(name => name.toLowerCase() === wanted.toLowerCase())
    if (index >= 0) return index
    throw new Error(`${source} has no column "${wanted}" for the metric: its columns are ${columns.names.join(', ')}`)
  }
  // What a run costs is rarely what it is for: taken only when there is nothing else.
  const costs = /mem|vram|gib|_gb|_mb|bytes|cost|usd|time|latency|seconds|size/i
  const candidates = columns.metrics
  const pick =
    candidates.find(({ name }) => directionOfName(name) !== null && !costs.test(name)) ??
    (columns.options.length > 0 ? candidates.findLast(({ name }) => directionOfName(name) !== null) : undefined) ??
    candidates[0]
  if (pick) return pick.index
  throw new Error(
    `${source} has no column of numbers that could be the metric: its columns are ${columns.names.join(', ')}`,
  )
}

function roleOf(read: UsableRow, isFirst: boolean): ImportedRole {
  if (read.role === 'reference') return 'reference'
  if (read.role === null) return isFirst || read.saysBaseline ? 'reference' : 'tried'
  if (read.role === 'kept') return isFirst || read.saysBaseline ? 'reference' : 'kept'
  return isFirst && read.saysBaseline ? 'reference' : 'tried'
}

/** What was set otherwise than in the reference, as a merge patch; null where the table has no settings. */
function changedSettings(options: JsonObject | null, reference: JsonObject | null): JsonObject | null {
  if (options === null || reference === null) return null
  const changed = Object.entries(options).filter(([name, value]) => reference[name] !== value)
  const removed = Object.keys(reference).filter(name => !(name in options))
  return Object.fromEntries([...changed, ...removed.map(name => [name, null] as const)])
}

function settingsText(settings: JsonObject): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ')
}

function metricsOf(
  columns: Columns,
  objective: number,
  rows: readonly ImportedRow[],
  name: string,
  options: ResultsOptions,
): ImportedHistory['metrics'] {
  const keptValues = rows.filter(row => row.role !== 'tried').flatMap(row => row.outcome.metrics[name] ?? [])
  const guessed = directionOfName(name) ?? directionOfKept(keptValues)
  const first: ImportedMetric = options.metric
    ? { name, direction: options.metric.direction ?? guessed, guessed: options.metric.direction === undefined }
    : { name, direction: guessed, guessed: true }
  const others = columns.metrics
    .filter(({ index }) => index !== objective)
    .map(({ name }): ImportedMetric => ({ name, direction: directionOfName(name), guessed: true }))
  return [first, ...others]
}

function whyGuessed(metric: ImportedMetric, options: ResultsOptions): string {
  const column = options.column ? 'the column is the one that was named' : 'the first column that can be one'
  if (metric.direction === null) return `${column}; nothing tells whether higher or lower is better`
  const better = metric.direction === 'minimize' ? 'lower' : 'higher'
  const why = directionOfName(metric.name) === null ? 'the kept rows say' : 'its name says'
  return `${column}; ${why} that ${better} is better`
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
