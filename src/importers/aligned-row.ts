/**
 * Lays the cells of one row onto the columns of its table, also where the row has more or fewer cells than the header: the
 * cell that holds a known status word is the anchor.
 */
import type { Columns } from './columns.ts'
import { isPending, meaningOf } from './status-words.ts'
import type { TableLine } from './table.ts'
import { isMissing, numberIn } from './value.ts'

export interface AlignedRow {
  /** The cell of a column; an empty text where the row has none. */
  readonly cell: (index: number | null) => string
  /** Cells before the status that no column names. */
  readonly extra: readonly string[]
}

/** Null when the row has no cell that could be its status. */
export function alignedRow(line: TableLine, columns: Columns): AlignedRow | null {
  const { cells } = line
  const { status, description } = columns
  const width = columns.names.length
  const rest = (index: number) => (index === width - 1 ? cells.slice(index).join(' ') : (cells[index] ?? ''))
  const asWritten = { cell: (index: number | null) => (index === null ? '' : rest(index)), extra: [] }
  if (status === null || isStatus(cells[status] ?? '')) return asWritten
  if (columns.saysFailuresOnly && cells.length === width && isMissing(cells[status]!)) return asWritten
  const found = cells.flatMap((cell, index) => (index !== description && isStatus(cell) ? [index] : []))
  if (found.length !== 1 || cells.length === width) return null
  const shift = found[0]! - status
  const after = (index: number) =>
    index === width - 1 ? cells.slice(index + shift).join(' ') : (cells[index + shift] ?? '')
  if (shift > 0) {
    return {
      cell: index => (index === null ? '' : index < status ? (cells[index] ?? '') : after(index)),
      extra: cells.slice(status, found[0]),
    }
  }
  // Cells are missing before the status. A decimal number where the commit belongs: the first ones. Otherwise those next to it.
  const first =
    columns.commit !== null && /\./.test(cells[columns.commit]!) && numberIn(cells[columns.commit]!) !== null
  return {
    cell: index => {
      if (index === null) return ''
      if (index >= status) return after(index)
      if (first) return index + shift < 0 ? '' : cells[index + shift]!
      return index < found[0]! ? cells[index]! : ''
    },
    extra: [],
  }
}

function isStatus(cell: string): boolean {
  return meaningOf(cell) !== null || isPending(cell)
}
