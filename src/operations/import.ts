/**
 * Brings in histories: logs, tables, trackers, repositories, or a file of Almanac's own records. What measures the objective of the
 * folder's environment becomes part of it; everything else becomes environments of their own in the ledger.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { currentEnvironment } from '../campaign/current-environment.ts'
import type { OpenEnvironment } from '../campaign/open-environment.ts'
import { importers } from '../importers/formats.ts'
import type { Source } from '../importers/importer.ts'
import { beginningOf, sourceOf } from '../importers/source.ts'
import { type Ledger, openLedger, openLedgerToRead } from '../ledger/ledger.ts'
import { importOptions, refuseFlagsOfLogs, rolesText } from './import-flags.ts'
import { readForFolder } from './import-here.ts'
import { noteNowAndThen } from './import-progress.ts'
import { importRecords } from './import-records.ts'
import { storeImported } from './import-store.ts'
import { importText } from './import-text.ts'
import type { Imported, ImportedEnvironment } from './imported.ts'
import { type Context, InputError, operation } from './operation.ts'
import { asInput, environmentHere, ledgerPath, withWaits } from './surroundings.ts'

export const importHistory = operation({
  name: 'import',
  summary: 'bring in a history: a log, a table, a tracker, a git repository, or records of Almanac',
  example: 'almanac import results.tsv --dry-run',
  help: rolesText,
  positional: ['path'],
  input: z.strictObject({
    path: z.string().optional().describe('file, folder or URL (default: "results" of the environment file)'),
    dryRun: z.boolean().default(false).describe('show what would be imported and what was guessed; store nothing'),
    format: z
      .enum(importers.map(({ name }) => name))
      .optional()
      .describe('the format, where it is not recognised'),
    environment: z.string().optional().describe('only this one of several experiments, studies, projects, segments'),
    metric: z.string().optional().describe('the objective, where another was guessed'),
    direction: z.enum(['minimize', 'maximize']).optional().describe('which way the objective is better'),
    column: z
      .array(z.string())
      .optional()
      .describe('what stands in a column, as NAME=ROLE (the roles are listed below); a name alone is the metric'),
    reference: z.string().optional().describe('the run that the others are changes of, by id or name'),
    constraint: z
      .array(z.string())
      .optional()
      .describe('a rule, such as "val_bpb >= 0.9"; what breaks it counts as failed, whatever the log says'),
    revisions: z.string().optional().describe('of a git repository: the revision or range to read (default: HEAD)'),
    as: z
      .string()
      .trim()
      .min(1)
      .optional()
      .describe('the name in the ledger; never part of the environment of this folder then'),
    keepPersonal: z.boolean().default(false).describe('keep mail addresses, hosts, users, home folders and arguments'),
  }),
  run: async (input, context): Promise<Imported> => {
    const opened = await environmentHere(context)
    const source = await sourceToImport(input.path, opened, context)
    return inLedgerToWrite(context, opened, input.dryRun, async ledger => {
      const given = input.path ?? source.name
      if (isRecords(source)) {
        refuseFlagsOfLogs(source.name, input)
        return importRecords(source, given, ledger, input.dryRun)
      }
      const flags = importOptions(input)
      const isExpected = input.path === undefined || flags.columns?.['metric'] !== undefined
      const token = context.variables['MLFLOW_TRACKING_TOKEN']
      const options = {
        ...flags,
        ...(token === undefined ? {} : { token }),
        signal: context.cancel,
        progress: noteNowAndThen(context, 'read'),
      }
      const mine = input.as === undefined ? opened : null
      const read = await asInput(readForFolder(source, options, input.format, mine, isExpected))
      const environments: ImportedEnvironment[] = []
      for (const history of read.histories) {
        const target = { opened: history === read.here ? opened : null, as: input.as, dryRun: input.dryRun }
        environments.push(await storeImported(history, source, target, input.direction, ledger, context))
      }
      const sum = (count: (each: ImportedEnvironment) => number) =>
        environments.reduce((total, each) => total + count(each), 0)
      return {
        source: source.name,
        given,
        format: read.importer.title,
        metricSaid: flags.metric !== undefined || flags.columns?.['metric'] !== undefined,
        dryRun: input.dryRun,
        ledger: ledgerPath(context, opened),
        environments,
        added: sum(({ added }) => added.references + added.kept + added.tried),
        known: sum(({ known }) => known),
        unusable: environments.flatMap(({ unusable }) => unusable),
        withoutCode: environments.flatMap(({ withoutCode }) => withoutCode),
        changesReference: environments.some(({ changesReference }) => changesReference),
      }
    })
  },
  // A script that looks at nothing else sees that there was nothing to import.
  exitCode: ({ added, known }) => (added + known === 0 ? 2 : 0),
  text: importText,
})

async function sourceToImport(
  path: string | undefined,
  opened: OpenEnvironment | null,
  { standing, directory }: Context,
): Promise<Source> {
  const name = path ?? opened?.file.results
  if (name === undefined) throw new InputError('Name what to import: almanac import results.tsv')
  const folder = path === undefined ? opened!.directory : (standing ?? directory)
  return asInput((async () => sourceOf(name, folder))())
}

function isRecords(source: Source): boolean {
  return /^\{\s*"format"\s*:\s*"almanac-records"/.test(beginningOf(source))
}

/** For a dry run, where there is no ledger yet: one that is thrown away. */
async function inLedgerToWrite<T>(
  context: Context,
  opened: OpenEnvironment | null,
  dryRun: boolean,
  action: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const path = ledgerPath(context, opened)
  const isThrownAway = dryRun && !existsSync(path)
  const { waiting } = withWaits(context)
  const folder = isThrownAway ? mkdtempSync(join(tmpdir(), 'almanac-dry-run-')) : null
  try {
    const open = dryRun ? openLedgerToRead : openLedger
    await using ledger = await open(folder === null ? resolve(path) : join(folder, 'ledger.db'), waiting)
    if (opened !== null) await currentEnvironment(opened, ledger)
    return await action(ledger)
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true })
  }
}
