/**
 * Any log of JSON records, one an experiment: what the fields are is guessed from their names, or told. Nested records are looked
 * through, so `params`, `metrics` and `results` say what is in them.
 */
import type { Importer } from './importer.ts'
import { jsonRecords } from './json-records.ts'
import { recordTable } from './record-table.ts'
import { textOf } from './source.ts'
import { tableHistories } from './table-history.ts'

export const resultsJsonl: Importer = {
  name: 'jsonl',
  title: 'a log of JSON records (JSONL, or a list)',
  takes: ['columns', 'reference'],
  recognises: source => source.kind === 'file' && /\.(jsonl|ndjson|json)$/i.test(source.name),
  read: async (source, options) => {
    const text = await textOf(source)
    return tableHistories(
      recordTable(() => jsonRecords(text), source.name),
      options,
    )
  },
}
