/**
 * A table of results as histories, one for each environment in it: karpathy's results.tsv and its relatives, sweeps, exports of
 * trackers. The metric's column is given, or guessed from the header. Rows that cannot be used are listed with the reason; none is
 * dropped silently.
 *
 * The reference of a row is the row that was *kept* before it, not the best so far: that is the code it was tried on.
 */
import { contentHash } from '../experiment/json.ts'
import { alignedRow } from './aligned-row.ts'
import { columnLines, doubtful } from './column-lines.ts'
import { type Columns, columnsOfHeader, columnsWithoutHeader } from './columns.ts'
import { directionOfKept, directionOfName } from './direction.ts'
import type { ImportedHistory, ImportedMetric, ImportedRow, UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import type { LogTable } from './log-table.ts'
import { objectiveGuess } from './objective.ts'
import { type ReadRow, readRow } from './results-row.ts'
import { type Kept, placeOf, settingsText } from './row-place.ts'
import { StatusCounts } from './status-counts.ts'
import type { TableLine } from './table.ts'
import { objectiveColumn } from './table-objective.ts'

export type TableOptions = Pick<ImportOptions, 'metric' | 'columns' | 'reference' | 'progress'>

/** Throws a sentence when the text is no results table, or has no column for the metric. */
export function tableHistories(table: LogTable, options: TableOptions = {}): ImportedHistory[] {
  const { source } = table
  const columns = columnsOf(table, options)
  const { reference } = options
  if (reference !== undefined && !columns.isSweep) {
    throw new Error(
      `${source} is a log, whose rows are measured against the row kept before them; a reference can be named for trackers and sweeps only`,
    )
  }
  const found = objectiveColumn(columns, table, options)
  const name =
    options.metric?.name ??
    columns.metrics.find(({ index }) => index === found.index)?.name ??
    columns.names[found.index]!
  const series = new Map<string, Series>()
  const firstLines = new Map<string, number>()
  const copies = new Map<string, number>()
  const unplaced: UnusableRow[] = (table.broken ?? []).map(({ line, text, reason }) =>
    unusableAt(line, contentHash(['broken', line, text]), reason, text),
  )
  let count = 0
  for (const line of reference === undefined ? table.lines : referenceFirst(table, columns, reference)) {
    const content = line.content ?? contentHash(line.cells)
    const first = firstLines.get(content)
    if (first === undefined) firstLines.set(content, line.line)
    else copies.set(content, (copies.get(content) ?? 1) + 1)
    const key = first === undefined ? content : `${content}#${copies.get(content)}`
    const read =
      first === undefined
        ? readRow(line, columns, found.index, name)
        : { reason: `the same as line ${first}, word for word: a copy, not a second run` }
    if ('reason' in read) {
      const label = columns.series === null ? '' : (alignedRow(line, columns)?.cell(columns.series) ?? '')
      const rows = label === '' ? unplaced : seriesOf(series, label).unusable
      rows.push(unusableAt(line.line, key, read.reason, line.text))
    } else seriesOf(series, read.series).add(line, key, read, source)
    if (++count % 10_000 === 0) options.progress?.(count)
  }
  for (const each of series.values()) each.end(source)
  const histories = [...series]
    .filter(([, { rows, unusable }]) => {
      if (rows.length === 0) for (const each of unusable) unplaced.push(each)
      return rows.length > 0
    })
    .map(([label, each]) => historyOf(label, each))
  if (histories.length === 0) return [historyOf('', new Series(), unplaced)]
  // What could not be read tells no environment; it stands with the first.
  return histories.map((history, index) =>
    index > 0 || unplaced.length === 0
      ? history
      : { ...history, unusable: inOrder([...history.unusable, ...unplaced]) },
  )

  function historyOf(label: string, each: Series, unusable: readonly UnusableRow[] = each.unusable): ImportedHistory {
    const metrics = metricsOf(columns, found.index, each.rows, name, table, options)
    const isGuess = metrics[0].guessed
    const told = Object.values(options.columns ?? {})
    return {
      source,
      name: label === '' ? table.name : table.name === null ? label : `${table.name} (${label})`,
      description: table.description,
      metrics,
      constraints: [],
      rows: each.rows,
      unusable,
      statuses: each.statuses.all(),
      columns: columnLines(columns, found.index, told),
      doubtful: columns.isSweep ? [] : doubtful(columns, found.index),
      guesses: [
        ...(isGuess ? [objectiveGuess(name, metrics[0].direction, whyOf(found.why, metrics[0]))] : []),
        ...(series.size > 1 ? [`each ${columns.names[columns.series!]} is an environment of its own`] : []),
      ],
    }
  }
}

/** What the columns are is told by the first rows: enough of them that each status and number has come up. */
const mostSampled = 20_000

/** One list for all rows: there may be a million. */
const none: readonly string[] = []

/** Rows of one environment, each placed by what was kept before it. */
class Series {
  readonly rows: ImportedRow[] = []
  readonly unusable: UnusableRow[] = []
  readonly statuses = new StatusCounts()
  /** Undefined before the first row; null where something was tried before anything was kept. */
  #kept: Kept | null | undefined
  /** Rows of settings that did not finish, before any that did: they are changes of the first that will. */
  #early: (readonly [TableLine, string, ReadRow])[] = []

  add(line: TableLine, key: string, read: ReadRow, source: string): void {
    const isSettings = read.options !== null && (read.isOfSweep || read.sentence === '')
    if (this.#kept === undefined && isSettings && read.outcome.kind !== 'finished') {
      this.#early.push([line, key, read])
      return
    }
    this.#place(line, key, read, source)
    this.end(source)
  }

  /** Places what still waits for a reference. */
  end(source: string): void {
    const early = this.#early
    if (early.length === 0) return
    this.#early = []
    for (const [line, key, read] of early) this.#place(line, key, read, source)
  }

  #place(line: TableLine, key: string, read: ReadRow, source: string): void {
    const placed = placeOf(read, this.#kept)
    if ('reason' in placed) {
      this.unusable.push(unusableAt(line.line, key, placed.reason, line.text))
      return
    }
    const { role, settings, against } = placed
    if (read.status !== null) this.statuses.add(read.status, role, read.outcome.kind)
    const settingsWords =
      settings === null || (read.sentence !== '' && role === 'reference' && !read.isOfSweep)
        ? ''
        : settingsText(settings)
    this.rows.push({
      key,
      place: `line ${line.line}`,
      seed: read.seed,
      intervention: {
        sentence: [read.sentence, settingsWords].filter(part => part !== '').join(': '),
        overrides: settings,
        diff: null,
        tags: none,
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
    if (builtUpon) this.#kept = { key, role, name: read.name, options: read.options }
    else if (this.#kept === undefined) this.#kept = null
  }
}

/** The row that is called so, by its name or its line, before all others: what was tried in a sweep has no order. */
function referenceFirst(table: LogTable, columns: Columns, wanted: string): Iterable<TableLine> {
  const isWanted = ({ line, cells }: TableLine) =>
    `line ${line}` === wanted || columns.rowNames.some(index => cells[index] === wanted)
  const found = Iterator.from(table.lines).find(isWanted)
  if (found === undefined) {
    const names = columns.rowNames.map(index => columns.names[index]!)
    const where = names.length === 0 ? '' : ` in its ${names.join(' or ')}`
    throw new Error(
      `${table.source} has no row "${wanted}"${where} for the reference; name one, or its line (--reference "line 2")`,
    )
  }
  return [found, ...Iterator.from(table.lines).filter(({ line }) => line !== found.line)]
}

function seriesOf(all: Map<string, Series>, label: string): Series {
  const found = all.get(label)
  if (found) return found
  const made = new Series()
  all.set(label, made)
  return made
}

function columnsOf(table: LogTable, options: TableOptions): Columns {
  const { source, header } = table
  const mapping = options.columns ?? {}
  const lines = Iterator.from(table.lines).take(mostSampled).toArray()
  if (header !== null) {
    try {
      return columnsOfHeader(header, lines, mapping, options.metric?.name)
    } catch (cause) {
      throw new Error(`${source} has ${(cause as Error).message}`, { cause })
    }
  }
  const columns = columnsWithoutHeader(lines, mapping['metric'] ?? options.metric?.name ?? 'metric')
  if (columns !== null) return columns
  throw new Error(
    `${source} is not a results table: line ${lines[0]!.line} is not a header, and no column holds statuses (keep, discard, crash, …) ` +
      'behind a column of numbers. Add a header line such as: commit, val_bpb, memory_gb, status, description, separated by tabs',
  )
}

function metricsOf(
  columns: Columns,
  objective: number,
  rows: readonly ImportedRow[],
  name: string,
  table: LogTable,
  options: TableOptions,
): ImportedHistory['metrics'] {
  const kept = rows.filter(row => row.role !== 'tried').flatMap(row => row.outcome.metrics[name] ?? [])
  const declared =
    table.objective === undefined || options.metric || options.columns?.['metric'] ? null : table.objective
  const said = options.metric?.direction ?? declared?.direction ?? null
  const isNamed = options.metric !== undefined || declared !== null
  const direction = said ?? directionOfName(name) ?? directionOfKept(kept)
  const others = columns.metrics
    .filter(({ index }) => index !== objective)
    .map(({ name }): ImportedMetric => ({ name, direction: directionOfName(name), guessed: true }))
  return [{ name, direction, guessed: !isNamed || said === null }, ...others]
}

function whyOf(why: string, { name, direction }: ImportedMetric): string {
  if (direction === null) return why
  return `${why}; ${directionOfName(name) === null ? 'the kept rows say which way' : 'its name says which way'}`
}

function unusableAt(line: number, key: string, reason: string, text: string): UnusableRow {
  return { key, place: `line ${line}`, reason, text: text.length > 200 ? `${text.slice(0, 200)}…` : text }
}

function inOrder(rows: readonly UnusableRow[]): UnusableRow[] {
  const line = ({ place }: UnusableRow) => Number(place.slice('line '.length))
  return rows.toSorted((a, b) => line(a) - line(b))
}
