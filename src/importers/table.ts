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
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  let last: TableLine | null = null
  let count = 0
  for (let i = 0; i < lines.length; i++) {
    const start = i
    let content = lines[i]!
    if (content.trim() === '' || /^\s*#/.test(content)) continue
    if (opensQuote(content)) {
      const end = closingLine(lines, i)
      if (end !== null) {
        content = lines.slice(i, end + 1).join('\n')
        i = end
      }
    }
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
    last = { line: start + 1, cells: cellsOf(content), text: content }
  }
  if (last) yield last
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
  return content.split('\t').some(cell => /^\s*"/.test(cell) && !closes(cell.trim().slice(1)))
}

/** An odd number of quotes at the end closes the cell: `""` inside is a quote character. */
function closes(cell: string): boolean {
  return /"*$/.exec(cell.trimEnd())![0].length % 2 === 1
}

function closingLine(lines: readonly string[], start: number): number | null {
  for (let i = start + 1; i < Math.min(lines.length, start + longestQuotedCell); i++) {
    const cells = lines[i]!.split('\t')
    if (closes(cells[0]!)) return i
    // A tab before the closing quote: the quote was a plain character after all.
    if (cells.length > 1) return null
  }
  return null
}

function continued(row: TableLine, content: string): TableLine {
  const cells = [...row.cells]
  cells[cells.length - 1] = `${cells.at(-1)!} ${content.trim()}`.trim()
  return { line: row.line, cells, text: `${row.text}\n${content}` }
}
