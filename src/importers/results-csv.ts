/** Any CSV with a row an experiment; what the columns are is guessed from their names and what stands in them, or told. */
import { contentHash } from '../experiment/json.ts'
import { isHeader } from './columns.ts'
import { delimitedLines, separatorOf } from './delimited.ts'
import type { Importer } from './importer.ts'
import type { LogTable } from './log-table.ts'
import { textOf } from './source.ts'
import type { TableLine } from './table.ts'
import { tableHistories } from './table-history.ts'

export const resultsCsv: Importer = {
  name: 'csv',
  title: 'a table with commas (CSV)',
  takes: ['columns', 'reference'],
  recognises: source => source.kind === 'file' && /\.csv$/i.test(source.name),
  read: async (source, options) => tableHistories(csvTable(await textOf(source), source.name), options),
}

/** Throws a sentence when the text is empty. */
export function csvTable(text: string, source: string): LogTable {
  const separator = separatorOf(text)
  const [first] = delimitedLines(text, separator)
  if (!first) throw new Error(`${source} is empty: expected a table with one row for each experiment`)
  // The first line names the columns, as is usual, unless a number stands in it.
  const isNamed = isHeader(first.cells) || !first.cells.some(cell => /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(cell))
  const lines = {
    [Symbol.iterator]: () => {
      const all = delimitedLines(text, separator)
      const rows = isNamed ? all.drop(1).map(line => withContent(line, first.cells)) : all
      return separator === ';' ? rows.map(withDecimalPoints) : rows
    },
  }
  return { source, name: null, description: null, header: isNamed ? first.cells : null, lines }
}

/** A row is known by its cells and their names: an export with other columns, or in another order, brings back the same rows. */
function withContent(line: TableLine, header: readonly string[]): TableLine {
  const filled = line.cells.flatMap((cell, index) =>
    cell === '' ? [] : [[header[index] ?? `${index}`, cell] as const],
  )
  return { ...line, content: contentHash(Object.fromEntries(filled)) }
}

/** Where semicolons separate, a comma stands in the numbers. */
function withDecimalPoints(line: TableLine): TableLine {
  return { ...line, cells: line.cells.map(cell => (/^[-+]?\d+,\d+$/.test(cell) ? cell.replace(',', '.') : cell)) }
}
