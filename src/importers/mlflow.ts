/** MLflow, wherever it keeps its runs: a database, a folder `mlruns`, a server, or a table that was exported. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Importer, ImportOptions, Source } from './importer.ts'
import { isMlflowFolder, readMlflowFiles } from './mlflow-files.ts'
import { isMlflowServer, readMlflowServer } from './mlflow-rest.ts'
import { isMlflowSqlite, readMlflowSqlite } from './mlflow-sqlite.ts'
import { isMlflowTable, readMlflowTable } from './mlflow-table.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'
import { refuseColumns } from './unused-options.ts'

export const mlflow: Importer = {
  name: 'mlflow',
  title: 'MLflow: its database, its folder mlruns, its server, a CSV of runs',
  takes: ['columns', 'reference'],
  recognises: source => {
    if (source.kind === 'address') return isMlflowServer(source.url)
    if (source.kind === 'folder') return isMlflowFolder(source.path) || hasDatabase(source.path)
    return isMlflowSqlite(source.path) || isMlflowTable(source)
  },
  read: async (source, options) => trackedHistories(await experimentsOf(source, options), source.name, options),
}

async function experimentsOf(source: Source, options: ImportOptions): Promise<readonly TrackedExperiment[]> {
  if (source.kind !== 'file' || !isMlflowTable(source)) refuseColumns(source, options)
  if (source.kind === 'address') return readMlflowServer(source.url, options)
  if (source.kind === 'file')
    return isMlflowTable(source) ? readMlflowTable(source, options) : readMlflowSqlite(source.path, options)
  // Since MLflow 3.7 `mlruns` has artifacts alone, and the runs are in the database beside it.
  if (isMlflowFolder(source.path)) return readMlflowFiles(source.path, options)
  const database = databaseIn(source.path)
  if (database !== null) return readMlflowSqlite(database, options)
  throw new Error(
    `${source.name} is no folder of MLflow: it has neither experiments (meta.yaml) nor a database mlflow.db`,
  )
}

function hasDatabase(folder: string): boolean {
  const database = databaseIn(folder)
  return database !== null && isMlflowSqlite(database)
}

/** Null for a link: it may lead anywhere. */
function databaseIn(folder: string): string | null {
  const path = join(folder, 'mlflow.db')
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? path : null
}
