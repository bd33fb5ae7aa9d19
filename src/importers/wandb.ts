/** Weights & Biases: local folders and logs, and the tables that people export of it. */
import type { Importer, ImportOptions, Source } from './importer.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistories } from './tracked-histories.ts'
import { refuseColumns } from './unused-options.ts'
import { isWandbFolder, readWandbFolder } from './wandb-folder.ts'
import { isWandbFile } from './wandb-frames.ts'
import { isWandbTable, readWandbTable } from './wandb-table.ts'

export const wandb: Importer = {
  name: 'wandb',
  title: 'Weights & Biases: its folder wandb, a .wandb file, a CSV of runs',
  takes: ['columns', 'reference'],
  recognises: source => {
    if (source.kind === 'folder') return isWandbFolder(source.path)
    if (source.kind === 'address') return false
    return isWandbFile(source.path) || isWandbTable(source)
  },
  read: async (source, options) => trackedHistories(await experimentsOf(source, options), source.name, options),
}

async function experimentsOf(source: Source, options: ImportOptions): Promise<readonly TrackedExperiment[]> {
  if (source.kind === 'address') {
    throw new Error(`${source.name}: a W&B server is not asked; export the runs as CSV there, or name the folder wandb`)
  }
  if (source.kind === 'folder' || isWandbFile(source.path)) {
    refuseColumns(source, options)
    return readWandbFolder(source.path, options)
  }
  return readWandbTable(source, options)
}
