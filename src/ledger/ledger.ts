/**
 * The ledger: one SQLite file with everything that was tried, foreseen and concluded. Several processes may have it open
 * and write at once. Each verb below lives in the file of its concern, as a function of the database handle; here they
 * are gathered on one open file.
 *
 *     await using ledger = await openLedger('.almanac/ledger.db')
 *     const records = await ledger.recordsOf({ familyIds: [id] })
 */
import { accessSync, constants, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import {
  campaignById,
  campaigns,
  createCampaign,
  endCampaign,
  eventsOf,
  latestCampaign,
  takeCampaign,
} from './campaigns.ts'
import {
  countsOfFamilies,
  currentVersion,
  ensureFamily,
  ensureVersion,
  families,
  family,
  lineage,
  setCurrentVersion,
  version,
} from './environments.ts'
import { failedForecastsOf, forecastsOf, latestForecasts, storeFailedForecast, storeForecast } from './forecasts.ts'
import { hasImports, importedRowsOf, importsOf, recordImports } from './imports.ts'
import {
  candidatesWithHash,
  ensureIntervention,
  ensureInterventions,
  ensureReference,
  intervention,
  interventionByHash,
  interventionsOf,
} from './interventions.ts'
import { isCurrent, migrate } from './migrations.ts'
import { copyOf } from './read-only.ts'
import {
  countRowsOfReadings,
  countRunsOfReading,
  readings,
  rowsOfReading,
  storeReading,
  withdrawReadings,
} from './readings.ts'
import { recordsAndReferencesOf, recordsOf } from './records.ts'
import { roundsOf, storeRound } from './rounds.ts'
import { claimRun, importRuns, openRuns, run, runsOf, runsOfCampaign, writeOutcome } from './runs.ts'
import { inSentences, openFile, sqliteDialect } from './sqlite.ts'
import type { Database, Tables } from './tables.ts'
import { inTransaction, refuseWhileHeld } from './transaction.ts'
import { storeVerdict, verdictsOf } from './verdicts.ts'
import { type Waiting, whenFree } from './waiting.ts'

const verbs = {
  ensureFamily,
  family,
  families,
  countsOfFamilies,
  ensureVersion,
  version,
  currentVersion,
  setCurrentVersion,
  lineage,
  ensureReference,
  ensureIntervention,
  ensureInterventions,
  intervention,
  interventionByHash,
  candidatesWithHash,
  interventionsOf,
  claimRun,
  writeOutcome,
  importRuns,
  run,
  runsOf,
  runsOfCampaign,
  openRuns,
  storeForecast,
  forecastsOf,
  storeFailedForecast,
  failedForecastsOf,
  latestForecasts,
  storeVerdict,
  verdictsOf,
  createCampaign,
  takeCampaign,
  endCampaign,
  campaign: campaignById,
  campaigns,
  latestCampaign,
  eventsOf,
  storeRound,
  roundsOf,
  recordsOf,
  recordsAndReferencesOf,
  recordImports,
  importedRowsOf,
  importsOf,
  hasImports,
  storeReading,
  readings,
  withdrawReadings,
  rowsOfReading,
  countRunsOfReading,
  countRowsOfReadings,
} as const

type Bound<Verb> = Verb extends (db: Database, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never
type Verbs = { readonly [Name in keyof typeof verbs]: Bound<(typeof verbs)[Name]> }

export interface Ledger extends Verbs {
  /** Absolute path of the file. */
  readonly path: string
  /**
   * Several writes as one: all or nothing, and no other process writes in between. Use the ledger that is handed in, and
   * do nothing slow inside: others wait. A throw takes everything back.
   */
  transaction<T>(action: (ledger: Ledger) => Promise<T>): Promise<T>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens the ledger, creating its folder and file and bringing older files to the newest schema. Throws a sentence when
 * the file is no ledger, is newer than this program, or cannot be written; such a file is left as it is.
 */
export async function openLedger(path: string, waiting: Waiting = {}): Promise<Ledger> {
  const absolute = resolve(path)
  if (isReadOnly(absolute)) {
    throw new Error(
      `The ledger ${absolute} cannot be written: it, or its folder, is read-only. It can be looked at; to go on with it, make both writable, or copy it and name the copy with --ledger.`,
    )
  }
  prepareFolder(dirname(absolute))
  const file = await whenFree(absolute, waiting, () => openFile(absolute))
  try {
    const current = await whenFree(absolute, waiting, () => isCurrent(absolute, file))
    // Changing to WAL takes an exclusive lock, and SQLite does not wait for it at all.
    await whenFree(absolute, waiting, () => inSentences(absolute, () => file.exec(settings)))
    return await ledgerOf(absolute, file, current, waiting)
  } catch (error) {
    if (file.isOpen) file.close()
    throw error
  }
}

/**
 * The same for whoever only looks: where the file cannot be written, another user's or on read-only media, it is read as it is now, and
 * what is written is forgotten when it closes.
 */
export async function openLedgerToRead(path: string, waiting: Waiting = {}): Promise<Ledger> {
  const absolute = resolve(path)
  if (!isReadOnly(absolute)) return openLedger(path, waiting)
  const copy = await whenFree(absolute, waiting, () => copyOf(absolute))
  try {
    return await ledgerOf(absolute, copy, isCurrent(absolute, copy), {})
  } catch (error) {
    if (copy.isOpen) copy.close()
    throw error
  }
}

async function ledgerOf(path: string, file: DatabaseSync, isCurrent: boolean, waiting: Waiting): Promise<Ledger> {
  const db: Database = new Kysely<Tables>({ dialect: sqliteDialect(path, file, waiting) })
  if (!isCurrent) await migrate(path, db)
  return ledgerOver(path, db, async () => {
    await db.destroy()
    // Kysely leaves a connection open that it never used.
    if (file.isOpen) file.close()
  })
}

/** Whether it is there, and it or its folder (where SQLite puts two files while it is open) may not be written. */
function isReadOnly(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    const real = realpathSync(path)
    for (const each of [real, dirname(real)]) accessSync(each, constants.W_OK)
    return false
  } catch {
    return true
  }
}

/** The folder ignores itself in git when it is ours: made here, or called `.almanac`. Never a folder of the user's. */
function prepareFolder(folder: string): void {
  try {
    const made = mkdirSync(folder, { recursive: true }) !== undefined
    const ignore = join(folder, '.gitignore')
    if ((made || basename(folder) === '.almanac') && !existsSync(ignore)) writeFileSync(ignore, '*\n')
  } catch (error) {
    throw new Error(
      `The ledger's folder ${folder} cannot be written (${(error as NodeJS.ErrnoException).code}): make it writable, or name another file with --ledger.`,
      { cause: error },
    )
  }
}

/**
 * Kibibytes of pages kept in memory, below zero as SQLite has it; taken only as a ledger grows. Hashes are keys here, so a large import
 * writes all over its indexes, and with SQLite's two megabytes most of its time went by.
 */
const cacheSize = -65_536

const settings = `pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = ${cacheSize}`

function ledgerOver(path: string, db: Database, close: () => Promise<void>): Ledger {
  const bound = Object.fromEntries(
    Object.entries(verbs).map(([name, verb]) => [
      name,
      async (...rest: unknown[]) => {
        refuseWhileHeld(db)
        return (verb as (db: Database, ...rest: unknown[]) => Promise<unknown>)(db, ...rest)
      },
    ]),
  ) as unknown as Verbs
  return {
    ...bound,
    path,
    transaction: action => inTransaction(db, db => action(ledgerOver(path, db, async () => {}))),
    close,
    [Symbol.asyncDispose]: close,
  }
}
