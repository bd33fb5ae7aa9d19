/**
 * What the columns of a results table are: by their names, and where there is no header by what stands in them.
 */
import {
  bare,
  columnNamed,
  columnWords,
  costs,
  isSetting,
  neither,
  normal,
  noteWords,
  optionPrefix,
} from './column-names.ts'
import { directionOfName } from './direction.ts'
import { meaningOf } from './status-words.ts'
import { sweepRole } from './sweep-columns.ts'
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
  /** Its status says only how runs failed: a row without one finished. */
  readonly saysFailuresOnly: boolean
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
  /** Columns that hold what was set: those that say so, and in a sweep those that look like it. */
  readonly options: readonly Column[]
  /** No text and no commit says what was tried: what was set tells the rows apart. */
  readonly isSweep: boolean
  /** Names of the rows in a sweep, by which one of them can be asked for. */
  readonly rowNames: readonly number[]
  /** Columns that are not read, and why. */
  readonly leftOut: readonly (Column & { readonly why: string })[]
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
 * The roles of the columns of a table with this header; `rows` decide which of the others hold numbers. `objective` is the metric that the
 * caller names, which need not be a column. Throws the name of a column in the mapping that the header does not have.
 */
export function columnsOfHeader(
  header: readonly string[],
  rows: readonly TableLine[],
  mapping: ColumnMapping = {},
  objective?: string,
): Columns {
  const names = header.map((name, index) => (name === '' ? `column ${index + 1}` : name))
  const roleOf = toldRoles(names, mapping)
  const toldSeries = [...roleOf].some(([, role]) => role === 'series')
  const taken = new Map([...roleOf].map(([index, role]) => [role, index]))
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
  const whole = rows.filter(row => row.cells.length === header.length)
  const all = names.map((name, index) => ({ index, name }))
  const told = (role: string) => all.filter(({ index }) => roleOf.get(index) === role)
  const prefixed = all.filter(({ index, name }) => !roleOf.has(index) && optionPrefix.test(name))
  const isTold = ['description', 'proposal', 'commit'].some(role => mapping[role] !== undefined)
  const isSweep = prefixed.length === 0 && !isTold && !isExplained(whole, taken)
  // Of several tasks each is an environment; of several machines none.
  const series = taken.get('series')
  const splitsRows =
    toldSeries || (series !== undefined && !(isSweep && isMachine(names[series]!)) && splits(whole, series))
  if (series !== undefined && !splitsRows) {
    taken.delete('series')
    roleOf.delete(series)
  }
  // A remark here and there does not say what was tried; it stays as a note.
  const remarks = isSweep ? all.filter(({ index }) => isText(roleOf.get(index))) : []
  if (isSweep) for (const role of ['description', 'proposal']) taken.delete(role)
  const at = (role: string): number | null => taken.get(role) ?? null
  const isPrefixed = new Set(prefixed)
  const rest = all.filter(column => !roleOf.has(column.index) && !isPrefixed.has(column))
  const named = at('metric') ?? (objective === undefined ? -1 : columnNamed(names, objective))
  const kinds = isSweep
    ? sweepKinds(rest, whole, named < 0 ? firstResult(rest, whole) : named)
    : logKinds(rest, whole, at('description') !== null)
  const isNamed = named >= 0 && roleOf.get(named) !== 'metric'
  const isObjective = ({ index }: Column) => index === named
  const metrics = [...kinds.metrics, ...told('measurement')].filter(column => !isObjective(column))
  if (isNamed) metrics.push(all[named]!)
  const options = [...kinds.options, ...prefixed, ...told('option')].filter(column => !isObjective(column))
  return {
    names,
    commit: at('commit'),
    status: at('status'),
    saysFailuresOnly: saysFailuresOnly(whole, at('status')),
    description: at('description'),
    proposal: at('proposal'),
    tag: at('tag'),
    configuration: at('configuration'),
    time: at('time'),
    seed: at('seed'),
    series: at('series'),
    notes: [...kinds.notes, ...remarks].toSorted(byPlace).map(({ index }) => index),
    metrics: withBareNames([...told('metric'), ...metrics.toSorted(byPlace)]),
    options: withBareNames(options.toSorted(byPlace)),
    isSweep,
    rowNames: isSweep
      ? all.filter(({ name, index }) => index === at('tag') || neither.has(normal(name))).map(({ index }) => index)
      : [],
    leftOut: kinds.leftOut,
  }
}

interface Kinds {
  readonly metrics: readonly Column[]
  readonly options: readonly Column[]
  readonly notes: readonly Column[]
  readonly leftOut: readonly (Column & { readonly why: string })[]
}

const byPlace = (a: Column, b: Column) => a.index - b.index

/** Whether a text or a commit tells what was tried: one that most rows have, and a commit that is not the same for most. */
function isExplained(rows: readonly TableLine[], taken: ReadonlyMap<string, number>): boolean {
  const cells = (role: string) => {
    const index = taken.get(role)
    return index === undefined ? [] : rows.map(row => row.cells[index]!).filter(cell => !isMissing(cell))
  }
  const most = 0.5 * rows.length
  const says = (role: string) => taken.has(role) && cells(role).length >= most
  if (says('description') || says('proposal')) return true
  if (says('commit') && new Set(cells('commit')).size >= most) return true
  // Where rows are kept somebody goes from change to change, and calls each something.
  const keeps = cells('status').some(cell => meaningOf(cell)?.role === 'kept')
  return keeps && (says('tag') || says('configuration'))
}

function isMachine(name: string): boolean {
  return /^(hardware|gpu|device|machine|host)$/.test(normal(name))
}

function isText(role: string | undefined): boolean {
  return role === 'description' || role === 'proposal'
}

function sweepKinds(rest: readonly Column[], rows: readonly TableLine[], objective: number | null): Kinds {
  const roles = rest.map(column => {
    const cells = rows.map(row => row.cells[column.index]!)
    return { column, role: sweepRole({ ...column, cells }, objective) }
  })
  const of = (wanted: string) => roles.flatMap(({ column, role }) => (role === wanted ? [column] : []))
  return {
    metrics: of('metric'),
    options: of('option'),
    notes: of('note'),
    leftOut: roles.flatMap(({ column, role }) => (typeof role === 'string' ? [] : [{ ...column, why: role.leftOut }])),
  }
}

/** In a log what is set is in its words, its code, or columns that say so: numbers are results. */
function logKinds(rest: readonly Column[], rows: readonly TableLine[], hasDescription: boolean): Kinds {
  const isNote = ({ name }: Column) => hasDescription && noteWords.has(normal(name))
  const metrics = rest.filter(column => !isNote(column) && holdsNumbers(rows, column))
  const measured = new Set(metrics)
  const others = rest.filter(column => !isNote(column) && !measured.has(column))
  const why = ({ name }: Column) => (neither.has(normal(name)) ? 'numbers the rows' : 'a text beside what was tried')
  return {
    metrics,
    options: [],
    notes: rest.filter(isNote),
    leftOut: others.map(column => ({ ...column, why: why(column) })),
  }
}

/** The first column that is named like what a run is for. */
function firstResult(rest: readonly Column[], rows: readonly TableLine[]): number | null {
  const isResult = (column: Column) =>
    directionOfName(column.name) !== null &&
    !isSetting(column.name) &&
    !costs.test(column.name) &&
    holdsNumbers(rows, column)
  return rest.find(isResult)?.index ?? null
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
    saysFailuresOnly: false,
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
    isSweep: false,
    rowNames: [],
    leftOut: [],
  }
}

function holdsStatuses(rows: readonly TableLine[], index: number, width: number): boolean {
  const cells = rows.filter(row => row.cells.length === width).map(row => row.cells[index]!)
  return cells.length === 0 || cells.some(cell => meaningOf(cell) !== null)
}

function saysFailuresOnly(rows: readonly TableLine[], status: number | null): boolean {
  if (status === null) return false
  const words = rows.map(row => row.cells[status]!).filter(cell => !isMissing(cell))
  return words.length < rows.length && words.every(word => (meaningOf(word)?.kind ?? 'finished') !== 'finished')
}

function holdsNumbers(rows: readonly TableLine[], column: Column): boolean {
  if (neither.has(normal(column.name))) return false
  const cells = rows.map(row => row.cells[column.index]!).filter(cell => !isMissing(cell))
  if (cells.length === 0) return directionOfName(column.name) !== null
  return cells.filter(cell => numberIn(cell) !== null).length >= 0.5 * cells.length
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
