/**
 * Tab-separated text as people and agents really write it: byte-order mark, any line ends, quoted cells that span lines,
 * descriptions that run on in the next line, literal `\t` where a shell did not make a tab. Cells only; no meaning.
 */
export interface TableLine {
  /** Line of its first character, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  readonly text: string
  /** What it says, where that is more than its cells: a record with names, which may stand under another header tomorrow. */
  readonly content?: string
}

/** A quoted cell ends within this many lines, or its quote is a plain character. */
const longestQuotedCell = 50

export function readTable(text: string): TableLine[] {
  return [...tableLines(text)]
}

/** One after the other: of a million rows only one is needed at a time. */
export function* tableLines(text: string): Generator<TableLine> {
  const all = withLineFeeds(text)
  let last: TableLine | null = null
  let count = 0
  let number = 0
  for (let at = 0; at < all.length; ) {
    const line = ++number
    const start = at
    let end = endOfLine(all, start)
    at = end + 1
    if (!hasContent(all, start, end)) continue
    if (opensQuote(all.slice(start, end))) {
      const closing = closingLine(all, at)
      if (closing !== null) {
        end = closing.end
        at = end + 1
        number += closing.lines
      }
    }
    const content = all.slice(start, end)
    // Never onto the first line, which is the header most of the time; and a lone word is a row cut short, not prose.
    const isProse = !content.includes('\t') && !content.includes('\\t') && /\S\s+\S/.test(content)
    if (last && count > 0 && last.cells.length > 1 && isProse) {
      last = continued(last, content)
      continue
    }
    if (last) {
      yield last
      count++
    }
    last = { line, cells: cellsOf(content), text: content }
  }
  if (last) yield last
}

function withLineFeeds(text: string): string {
  const whole = text.replace(/^\uFEFF/, '')
  return whole.includes('\r') ? whole.replaceAll(/\r\n?/g, '\n') : whole
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** Neither empty nor a comment. */
function hasContent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const character = text[at]!
    if (character.trim() !== '') return character !== '#'
  }
  return false
}

function cellsOf(content: string): string[] {
  const split = content.includes('\t') ? content.split('\t') : content.split('\\t')
  return split.map(cell => unquoted(cell.trim()))
}

function unquoted(cell: string): string {
  return cell.length >= 2 && cell.startsWith('"') && cell.endsWith('"')
    ? cell.slice(1, -1).replaceAll('""', '"').trim()
    : cell
}

/** Whether a cell begins with a quote that its line does not close. */
function opensQuote(content: string): boolean {
  return content.includes('"') && content.split('\t').some(cell => /^\s*"/.test(cell) && !closes(cell.trim().slice(1)))
}

/** An odd number of quotes at the end closes the cell: `""` inside is a quote character. */
function closes(cell: string): boolean {
  return /"*$/.exec(cell.trimEnd())![0].length % 2 === 1
}

/** Where the line ends that closes a quoted cell, and how many lines further it is; null where none does soon. */
function closingLine(text: string, start: number): { readonly end: number; readonly lines: number } | null {
  for (let at = start, lines = 1; at < text.length && lines < longestQuotedCell; lines++) {
    const end = endOfLine(text, at)
    const cells = text.slice(at, end).split('\t')
    if (closes(cells[0]!)) return { end, lines }
    // A tab before the closing quote: the quote was a plain character after all.
    if (cells.length > 1) return null
    at = end + 1
  }
  return null
}

function continued(row: TableLine, content: string): TableLine {
  const cells = [...row.cells]
  cells[cells.length - 1] = `${cells.at(-1)!} ${content.trim()}`.trim()
  return { line: row.line, cells, text: `${row.text}\n${content}` }
}
