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
import type { Source } from '../importers/importer.ts'
import { beginningOf, sourceOf } from '../importers/source.ts'
import { type Ledger, openLedger, openLedgerToRead } from '../ledger/ledger.ts'
import { placeOfSource } from './import-again.ts'
import { refuseFlagsOfLogs, rolesText, saidFlags, sourceFlags } from './import-flags.ts'
import { importRecords } from './import-records.ts'
import { importSource } from './import-source.ts'
import { importText } from './import-text.ts'
import type { Imported } from './imported.ts'
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
    replace: z
      .boolean()
      .default(false)
      .describe(
        'read it anew and leave out what earlier imports made of it; by the flags of then, where none are given',
      ),
    ...sourceFlags,
  }),
  run: async (input, context): Promise<Imported> => {
    const opened = await environmentHere(context)
    const source = await sourceToImport(input.path, opened, context)
    return inLedgerToWrite(context, opened, input.dryRun, async ledger => {
      const given = input.path ?? source.name
      const place = placeOfSource(source, ledgerPath(context, opened))
      if (!isRecords(source)) {
        const wanted = {
          source,
          opened,
          isOwnLog: input.path === undefined,
          dryRun: input.dryRun,
          place,
          adds: input.as !== undefined,
        }
        return importSource(wanted, { given, flags: saidFlags(input), replace: input.replace }, ledger, context)
      }
      refuseFlagsOfLogs(source.name, saidFlags(input), input.replace)
      return importRecords(source, given, place, ledger, input.dryRun)
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
