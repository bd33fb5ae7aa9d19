/**
 * Tables with commas, as spreadsheets and pandas write them (RFC 4180): quoted cells may hold commas, quotes and line ends. A line at a
 * time, so that a large file is never whole in memory.
 */
import { linesOf } from './file-lines.ts'

export interface CsvRow {
  /** Line of its first character, from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

/** A quoted cell ends within this many lines, or its quote is a plain character. */
const mostLines = 1000

export function* csvRows(path: string): Generator<CsvRow> {
  let start = 0
  let open: string[] = []
  let line = 0
  for (const each of linesOf(path)) {
    line++
    const text = line === 1 ? each.replace(/^\uFEFF/, '') : each
    if (open.length === 0) {
      if (text.trim() === '') continue
      start = line
    }
    open.push(text)
    const joined = open.length === 1 ? text : open.join('\n')
    // Inside a quoted cell a quote is written twice, so an open cell leaves an odd number.
    if (quotesIn(joined) % 2 === 1 && open.length < mostLines) continue
    yield { line: start, cells: cellsOf(joined) }
    open = []
  }
  if (open.length > 0) yield { line: start, cells: cellsOf(open.join('\n')) }
}

function quotesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++
  return count
}

function cellsOf(text: string): string[] {
  const cells: string[] = []
  const cell = /"((?:[^"]|"")*)"?(?:,|$)|([^,]*)(?:,|$)/y
  for (let at = 0; at <= text.length; at = cell.lastIndex) {
    cell.lastIndex = at
    const match = cell.exec(text)!
    cells.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim())
    if (!match[0].endsWith(',')) break
  }
  return cells
}
