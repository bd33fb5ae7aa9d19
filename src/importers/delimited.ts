/**
 * Comma-separated text (RFC 4180) as spreadsheets and trackers write it: quoted cells with line breaks, a byte-order mark, any line
 * ends, and semicolons or tabs in place of commas.
 */
import type { TableLine } from './table.ts'

const separators = [',', ';', '\t', '|'] as const

/** The separator that the first line has most of, outside quotes. */
export function separatorOf(text: string): string {
  const first = /^[^\r\n]*/.exec(text)![0].replace(/"[^"]*"/g, '')
  const count = (separator: string) => first.split(separator).length - 1
  return separators.reduce((best, each) => (count(each) > count(best) ? each : best))
}

/** Empty lines are none. A quote that is never closed ends with its line, and is a plain character. */
export function readDelimited(text: string, separator: string): TableLine[] {
  return [...delimitedLines(text, separator)]
}

/** One after the other: of a million rows only one is needed at a time. */
export function* delimitedLines(text: string, separator: string): Generator<TableLine> {
  let at = 0
  let line = 1
  while (at < text.length) {
    const cells: string[] = []
    const start = at
    const first = line
    for (;;) {
      const cell = text[at] === '"' ? quotedCell(text, at, separator) : plainCell(text, at, separator)
      cells.push(cell.text.trim())
      line += cell.breaks
      at = cell.end
      if (text[at] !== separator) break
      at++
    }
    const raw = text.slice(start, at)
    if (text[at] === '\r' && text[at + 1] === '\n') at++
    at++
    line++
    if (raw.trim() !== '') yield { line: first, cells, text: raw }
  }
}

interface Cell {
  readonly text: string
  readonly end: number
  readonly breaks: number
}

const lineFeed = 10
const carriageReturn = 13

function plainCell(text: string, start: number, separator: string): Cell {
  const separates = separator.charCodeAt(0)
  let end = start
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === separates || code === lineFeed || code === carriageReturn) break
  }
  return { text: text.slice(start, end), end, breaks: 0 }
}

function quotedCell(text: string, start: number, separator: string): Cell {
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return plainCell(text, start, separator)
    if (text[quote + 1] === '"') {
      at = quote + 2
      continue
    }
    const next = text[quote + 1]
    // A quote inside the cell: it was no quoted cell after all.
    if (next !== undefined && next !== separator && next !== '\n' && next !== '\r')
      return plainCell(text, start, separator)
    const content = text.slice(start + 1, quote)
    return { text: content.replaceAll('""', '"'), end: quote + 1, breaks: content.split('\n').length - 1 }
  }
}
