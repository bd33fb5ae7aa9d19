/** Optuna: its SQLite database, or its journal file. */
import type { Importer } from './importer.ts'
import { isOptunaJournal, readOptunaJournal } from './optuna-journal.ts'
import { isOptunaSqlite, readOptunaSqlite } from './optuna-sqlite.ts'
import { trackedHistories } from './tracked-histories.ts'

export const optuna: Importer = {
  name: 'optuna',
  title: 'Optuna (SQLite database or journal)',
  recognises: source => source.kind === 'file' && (isOptunaJournal(source) || isOptunaSqlite(source.path)),
  read: async (source, options) => {
    if (source.kind !== 'file') throw new Error(`${source.name} is no file; name Optuna's database or journal`)
    const studies = isOptunaJournal(source)
      ? await readOptunaJournal(source, options)
      : readOptunaSqlite(source.path, options)
    return trackedHistories(studies, source.name, options)
  },
}
