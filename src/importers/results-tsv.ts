/**
 * karpathy's results.tsv and its relatives: tab-separated, a row an experiment, written by an agent as it goes, with or without a
 * header.
 */
import { isHeader } from './columns.ts'
import type { ImportedHistory } from './history.ts'
import type { Importer } from './importer.ts'
import type { LogTable } from './log-table.ts'
import { beginningOf, textOf } from './source.ts'
import { tableLines } from './table.ts'
import { type TableOptions, tableHistories } from './table-history.ts'

export const resultsTsv: Importer = {
  name: 'tsv',
  title: 'a table with tabs (results.tsv and its relatives)',
  takes: ['columns', 'reference'],
  recognises: source =>
    source.kind === 'file' &&
    (/\.(tsv|tab)$/i.test(source.name) || /^[^\r\n\t{[<]*\t[^\r\n\t]*\t/.test(beginningOf(source))),
  read: async (source, options) => tableHistories(tsvTable(await textOf(source), source.name), options),
}

/** Throws a sentence when the text is empty. */
export function tsvTable(text: string, source: string): LogTable {
  const [first] = tableLines(text)
  if (!first) throw new Error(`${source} is empty: expected a tab-separated table with one row for each experiment`)
  const header = isHeader(first.cells) ? first.cells : null
  const lines = { [Symbol.iterator]: () => tableLines(text).drop(header === null ? 0 : 1) }
  return { source, name: null, description: null, header, lines }
}

/** The history of a text with one environment; of several the first. Throws a sentence when it is no results table. */
export function readResultsTsv(text: string, source: string, options: TableOptions = {}): ImportedHistory {
  return tableHistories(tsvTable(text, source), options)[0]!
}
