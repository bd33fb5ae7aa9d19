/** Any CSV with a row an experiment; what the columns are is guessed from their names and what stands in them, or told. */
import { isHeader } from './columns.ts'
import { readDelimited, separatorOf } from './delimited.ts'
import type { Importer } from './importer.ts'
import type { LogTable } from './log-table.ts'
import { textOf } from './source.ts'
import { tableHistories } from './table-history.ts'

export const resultsCsv: Importer = {
  name: 'csv',
  title: 'a table with commas (CSV)',
  recognises: source => source.kind === 'file' && /\.csv$/i.test(source.name),
  read: async (source, options) => tableHistories(csvTable(await textOf(source), source.name), options),
}

/** Throws a sentence when the text is empty. */
export function csvTable(text: string, source: string): LogTable {
  const lines = readDelimited(text, separatorOf(text))
  const first = lines[0]
  if (!first) throw new Error(`${source} is empty: expected a table with one row for each experiment`)
  // The first line names the columns, as is usual, unless a number stands in it and the table makes sense without.
  const hasHeader = isHeader(first.cells) || !first.cells.some(cell => /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(cell))
  return {
    source,
    name: null,
    description: null,
    header: hasHeader ? first.cells : null,
    lines: hasHeader ? lines.slice(1) : lines,
  }
}
