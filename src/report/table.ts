/**
 * A plain table for the terminal: columns as wide as they need, the flexible ones cut with `…` so that a line fits.
 * Knows nothing of colour: a cell may carry a style name, and the caller says what that does.
 */
import { displayWidth, pad, truncate } from './display-width.ts'
import { singleLine } from './outside-text.ts'

export type Style = 'heading' | 'faint' | 'better' | 'worse' | 'inconclusive' | 'failed'

/** Adds colour to a text without changing its width; `(_, text) => text` for none. */
export type Styling = (style: Style, text: string) => string

export interface Column {
  readonly heading: string
  readonly align?: 'left' | 'right'
  /** A flexible column gives way, down to this many columns, when the table is too wide. */
  readonly shrinkTo?: number
}

export type Cell = string | { readonly text: string; readonly style: Style }

export interface TableOptions {
  /** Columns of the terminal. */
  readonly width: number
  readonly styling: Styling
}

const gap = '  '

/** The table's lines joined by line feeds, without a last one. Cells are shown on one line, control characters made visible. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions,
): string {
  const texts = rows.map(row => columns.map((_, index) => cellText(row[index] ?? '', options.width)))
  const natural = columns.map((column, index) =>
    texts.reduce((widest, row) => Math.max(widest, displayWidth(row[index]!)), displayWidth(column.heading)),
  )
  const widths = widthsWithin(columns, natural, options.width - gap.length * (columns.length - 1))

  const line = (cells: readonly string[], styleOf: (index: number) => Style | null) =>
    cells
      .map((cell, index) => {
        const { align = 'left' } = columns[index]!
        const last = index === columns.length - 1 && align === 'left'
        const cut = truncate(cell, widths[index]!)
        const filled = last ? cut : pad(cut, widths[index]!, align)
        const style = styleOf(index)
        return style === null ? filled : options.styling(style, filled)
      })
      .join(gap)
      .trimEnd()

  const heading = line(
    columns.map(column => column.heading),
    () => 'heading',
  )
  return [heading, ...texts.map((cells, row) => line(cells, index => styleOf(rows[row]![index])))].join('\n')
}

/** No more of a very long text than a line could show: measuring its width is the slow part. */
function cellText(cell: Cell, width: number): string {
  return singleLine(typeof cell === 'string' ? cell : cell.text).slice(0, 20 * width)
}

function styleOf(cell: Cell | undefined): Style | null {
  return cell === undefined || typeof cell === 'string' ? null : cell.style
}

/** Takes what is too much from the flexible columns, always from the widest, never below their `shrinkTo`. */
function widthsWithin(columns: readonly Column[], natural: readonly number[], available: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width, 0) - available
  while (excess > 0) {
    const candidates = columns.flatMap(({ shrinkTo }, index) =>
      shrinkTo !== undefined && widths[index]! > shrinkTo ? [index] : [],
    )
    if (candidates.length === 0) break
    const widest = candidates.reduce((best, index) => (widths[index]! > widths[best]! ? index : best))
    // Down to the next widest at once: a sentence of 100,000 characters must not take as many steps.
    const next = Math.max(columns[widest]!.shrinkTo!, ...candidates.filter(i => i !== widest).map(i => widths[i]! - 1))
    const taken = Math.max(1, Math.min(excess, widths[widest]! - next))
    widths[widest]! -= taken
    excess -= taken
  }
  return widths
}
