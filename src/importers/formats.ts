/**
 * The formats that can be imported: one line each. The first that recognises a source reads it, so what can be told for certain stands
 * before what anything may look like.
 */
import { aideJournal } from './aide-journal.ts'
import { axJson } from './ax-json.ts'
import { gitHistory } from './git-history.ts'
import type { Importer, Source } from './importer.ts'
import { mlflow } from './mlflow.ts'
import { openevolveCheckpoint } from './openevolve-checkpoint.ts'
import { optuna } from './optuna.ts'
import { parameterGolf } from './parameter-golf.ts'
import { piLog } from './pi-log.ts'
import { resultsCsv } from './results-csv.ts'
import { resultsJsonl } from './results-jsonl.ts'
import { resultsTsv } from './results-tsv.ts'
import { senpai } from './senpai.ts'
import { shinkaSqlite } from './shinka-sqlite.ts'
import { trackio } from './trackio-sqlite.ts'
import { wandb } from './wandb.ts'

export const importers: readonly Importer[] = [
  mlflow,
  wandb,
  optuna,
  trackio,
  shinkaSqlite,
  openevolveCheckpoint,
  aideJournal,
  axJson,
  piLog,
  senpai,
  parameterGolf,
  resultsTsv,
  resultsCsv,
  resultsJsonl,
  gitHistory,
]

/** The importer of that name; without one, the first that recognises the source. Throws a sentence that names the formats there are. */
export async function importerFor(source: Source, format?: string): Promise<Importer> {
  const names = importers.map(({ name }) => name).join(', ')
  if (format !== undefined) {
    const found = importers.find(({ name }) => name === format)
    if (found) return found
    throw new Error(`there is no format "${format}"; the formats are ${names}`)
  }
  for (const importer of importers) if (await importer.recognises(source)) return importer
  const what = source.kind === 'file' ? 'the file' : source.kind === 'folder' ? 'the folder' : 'the address'
  throw new Error(`no format recognises ${what} ${source.name}; say which it is with --format, one of ${names}`)
}
