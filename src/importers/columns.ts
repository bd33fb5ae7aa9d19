/**
 * What the columns of a results table are: by their names, and where there is no header by what stands in them.
 */
import { bare, columnNamed, columnWords, isSetting, neither, normal, noteWords, optionPrefix } from './column-names.ts'
import { directionOfName } from './direction.ts'
import { meaningOf } from './status-words.ts'
import type { TableLine } from './table.ts'
import { isMissing, numberIn } from './value.ts'

export interface Column {
  readonly index: number
  readonly name: string
}

export interface Columns {
  readonly names: readonly string[]
  readonly commit: number | null
  readonly status: number | null
  readonly description: number | null
  /** What was to be tried and why, written apart from what came of it. */
  readonly proposal: number | null
  readonly tag: number | null
  readonly configuration: number | null
  readonly time: number | null
  readonly seed: number | null
  /** Tells several environments in one file apart: tier, hardware. */
  readonly series: number | null
  /** Written after the run, beside a description. */
  readonly notes: readonly number[]
  /** Columns that hold numbers a run produced. */
  readonly metrics: readonly Column[]
  /** Columns that hold what was set: those that say so, and in a table without status and text all others. */
  readonly options: readonly Column[]
}

/** What stands in which column, where the guess is wrong: a column's name for each role; several of one role in lines. */
export type ColumnMapping = Readonly<Record<string, string>>

/** A header names things: no number among its cells, and a word that we know or at least two cells. */
export function isHeader(cells: readonly string[]): boolean {
  if (cells.length < 2 || cells.some(cell => numberIn(cell) !== null)) return false
  const known = new Set(Object.values(columnWords).flat())
  const names = cells.map(normal)
  if (names.some(name => known.has(name))) return true
  return (
    names.every(name => /^[\p{L}_][\p{L}\p{N}_@/.%()]*$/u.test(name)) && !cells.some(cell => meaningOf(cell) !== null)
  )
}

/**
 * The roles of the columns of a table with this header; `rows` decide which of the others hold numbers. Throws the name of a column in
 * the mapping that the header does not have.
 */
export function columnsOfHeader(
  header: readonly string[],
  rows: readonly TableLine[],
  mapping: ColumnMapping = {},
): Columns {
  const names = header.map((name, index) => (name === '' ? `column ${index + 1}` : name))
  const told = toldRoles(names, mapping)
  const roleOf = new Map(told)
  const taken = new Map([...told].map(([index, role]) => [role, index]))
  for (const [role, words] of Object.entries(columnWords)) {
    if (taken.has(role)) continue
    for (const word of words) {
      const index = names.findIndex((name, i) => normal(name) === word && !roleOf.has(i))
      if (index < 0 || !(role === 'status' ? holdsStatuses(rows, index, header.length) : true)) continue
      taken.set(role, index)
      roleOf.set(index, role)
      break
    }
  }
  const at = (role: string): number | null => taken.get(role) ?? null
  const isText = at('status') !== null || at('description') !== null || at('proposal') !== null
  const all = names.map((name, index) => ({ index, name }))
  const isOption = ({ index, name }: Column) =>
    roleOf.get(index) === 'option' || (!roleOf.has(index) && optionPrefix.test(name))
  const rest = all.filter(column => !roleOf.has(column.index) && !isOption(column))
  const isNote = ({ name }: Column) => at('description') !== null && noteWords.has(normal(name))
  const whole = rows.filter(row => row.cells.length === header.length)
  const saysOptions = all.some(isOption)
  const metrics = rest.filter(
    column => !isNote(column) && holdsNumbers(whole, column) && (isText || saysOptions || looksMeasured(whole, column)),
  )
  const measured = new Set(metrics)
  const others = rest.filter(column => !measured.has(column) && !neither.has(normal(column.name)))
  const settings = new Set(others)
  const options = all.filter(column => isOption(column) || (!isText && !saysOptions && settings.has(column)))
  const objective = at('metric')
  return {
    names,
    commit: at('commit'),
    status: at('status'),
    description: at('description'),
    proposal: at('proposal'),
    tag: at('tag'),
    configuration: at('configuration'),
    time: at('time'),
    seed: at('seed'),
    series: told.get(at('series') ?? -1) === 'series' || (isText && splits(whole, at('series'))) ? at('series') : null,
    notes: rest.filter(isNote).map(({ index }) => index),
    metrics: withBareNames([
      ...(objective === null ? [] : [{ index: objective, name: names[objective]! }]),
      ...metrics,
    ]),
    options: withBareNames(options),
  }
}

function withBareNames(columns: readonly Column[]): Column[] {
  const counts = new Map<string, number>()
  for (const { name } of columns) counts.set(bare(name), (counts.get(bare(name)) ?? 0) + 1)
  return columns.map(({ index, name }) => ({ index, name: counts.get(bare(name)) === 1 ? bare(name) : name }))
}

/** By index. A name of the caller stands for a column whatever its case. */
function toldRoles(names: readonly string[], mapping: ColumnMapping): Map<number, string> {
  const roles = new Map<number, string>()
  for (const [role, text] of Object.entries(mapping)) {
    for (const wanted of text.split('\n')) {
      const index = columnNamed(names, wanted)
      if (index < 0) throw new Error(`no column "${wanted}" for the ${role}: its columns are ${names.join(', ')}`)
      roles.set(index, role === 'environment' ? 'series' : role)
    }
  }
  return roles
}

/** The roles in a table that begins with its first row: status by its words, the metric by its place before it. */
export function columnsWithoutHeader(rows: readonly TableLine[], metric: string): Columns | null {
  const width = mostFrequent(rows.map(row => row.cells.length))
  const whole = rows.filter(row => row.cells.length === width)
  const indices = Array.from({ length: width }, (_, index) => index)
  const share = (index: number, test: (cell: string) => boolean) =>
    whole.filter(row => test(row.cells[index]!)).length / whole.length
  const status = indices.find(index => share(index, cell => meaningOf(cell) !== null) > 0.6) ?? null
  const numeric = indices.filter(
    index => index !== status && share(index, cell => numberIn(cell) !== null || isMissing(cell)) > 0.9,
  )
  if (status === null || numeric.length === 0) return null
  const commit = numeric[0] === 0 ? null : 0
  const texts = indices.filter(index => index > status && !numeric.includes(index))
  const names = indices.map(index => `column ${index + 1}`)
  const metrics = numeric.map((index, position) => ({ index, name: position === 0 ? metric : names[index]! }))
  for (const column of metrics) names[column.index] = column.name
  return {
    names,
    commit,
    status,
    description: texts[0] ?? null,
    proposal: null,
    tag: null,
    configuration: null,
    time: null,
    seed: null,
    series: null,
    notes: [],
    metrics,
    options: [],
  }
}

function holdsStatuses(rows: readonly TableLine[], index: number, width: number): boolean {
  const cells = rows.filter(row => row.cells.length === width).map(row => row.cells[index]!)
  return cells.length === 0 || cells.some(cell => meaningOf(cell) !== null)
}

function holdsNumbers(rows: readonly TableLine[], column: Column): boolean {
  if (neither.has(normal(column.name))) return false
  const cells = rows.map(row => row.cells[column.index]!).filter(cell => !isMissing(cell))
  if (cells.length === 0) return directionOfName(column.name) !== null
  return cells.filter(cell => numberIn(cell) !== null).length >= 0.5 * cells.length
}

/** In a table of settings and results alike, a result is named like one, hardly ever repeats, or has digits that nobody sets. */
function looksMeasured(rows: readonly TableLine[], column: Column): boolean {
  if (isSetting(column.name)) return false
  if (directionOfName(column.name) !== null || distinct(rows, column.index) > 0.5 * rows.length) return true
  return rows.some(row => /\.\d{8,}/.test(row.cells[column.index]!))
}

/** A few values that come back: words of its own in each row tell no environments apart. */
function splits(rows: readonly TableLine[], index: number | null): boolean {
  const count = distinct(rows, index)
  return count > 1 && count <= 12 && count <= rows.length / 2
}

function distinct(rows: readonly TableLine[], index: number | null): number {
  return index === null ? 0 : new Set(rows.map(row => row.cells[index]!)).size
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0
}
