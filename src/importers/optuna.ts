/** Optuna: its SQLite database, its journal file, or the data frame of a study as CSV. */
import type { Importer, ImportOptions, Source } from './importer.ts'
import { isOptunaFrame, readOptunaFrame } from './optuna-frame.ts'
import { isOptunaJournal, readOptunaJournal } from './optuna-journal.ts'
import { isOptunaSqlite, readOptunaSqlite } from './optuna-sqlite.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'

export const optuna: Importer = {
  name: 'optuna',
  title: 'Optuna (SQLite database, journal, or a data frame of trials)',
  takes: ['reference'],
  recognises: source =>
    source.kind === 'file' && (isOptunaJournal(source) || isOptunaFrame(source) || isOptunaSqlite(source.path)),
  read: async (source, options) => trackedHistories(await studiesOf(source, options), source.name, options),
}

async function studiesOf(source: Source, options: ImportOptions): Promise<readonly TrackedExperiment[]> {
  if (source.kind !== 'file') throw new Error(`${source.name} is no file; name Optuna's database or journal`)
  if (isOptunaJournal(source)) return readOptunaJournal(source, options)
  return isOptunaFrame(source) ? [readOptunaFrame(source, options)] : readOptunaSqlite(source.path, options)
}
