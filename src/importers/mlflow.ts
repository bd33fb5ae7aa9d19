/** MLflow, wherever it keeps its runs: a database, a folder `mlruns`, a server, or a table that was exported. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Importer, ImportOptions, Source } from './importer.ts'
import { isMlflowFolder, readMlflowFiles } from './mlflow-files.ts'
import { isMlflowServer, readMlflowServer } from './mlflow-rest.ts'
import { isMlflowSqlite, readMlflowSqlite } from './mlflow-sqlite.ts'
import { isMlflowTable, readMlflowTable } from './mlflow-table.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'

export const mlflow: Importer = {
  name: 'mlflow',
  title: 'MLflow: its database, its folder mlruns, its server, a CSV of runs',
  recognises: source => {
    if (source.kind === 'address') return isMlflowServer(source.url)
    if (source.kind === 'folder') return isMlflowFolder(source.path) || isMlflowSqlite(join(source.path, 'mlflow.db'))
    return isMlflowSqlite(source.path) || isMlflowTable(source)
  },
  read: async (source, options) => trackedHistories(await experimentsOf(source, options), source.name, options),
}

async function experimentsOf(source: Source, options: ImportOptions): Promise<readonly TrackedExperiment[]> {
  if (source.kind === 'address') return readMlflowServer(source.url, options)
  if (source.kind === 'file')
    return isMlflowTable(source) ? readMlflowTable(source, options) : readMlflowSqlite(source.path, options)
  // Since MLflow 3.7 `mlruns` has artifacts alone, and the runs are in the database beside it.
  if (isMlflowFolder(source.path)) return readMlflowFiles(source.path, options)
  const database = join(source.path, 'mlflow.db')
  if (existsSync(database)) return readMlflowSqlite(database, options)
  throw new Error(
    `${source.name} is no folder of MLflow: it has neither experiments (meta.yaml) nor a database mlflow.db`,
  )
}
