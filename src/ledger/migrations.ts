/**
 * Brings a ledger file to the newest schema, whoever else opens it at the same time, and refuses what is not a ledger or
 * comes from a newer version, leaving it as it was.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import * as definitions from './migrations/0001-definitions.ts'
import * as languageModels from './migrations/0002-language-models.ts'
import * as gate from './migrations/0003-gate.ts'
import * as places from './migrations/0004-places.ts'
import * as readings from './migrations/0005-readings.ts'
import type { Database, Tables } from './tables.ts'

/** In order of name; a new one comes last and is never edited once released. */
const migrations: Readonly<Record<string, Migration>> = {
  '0001-definitions': definitions,
  '0002-language-models': languageModels,
  '0003-gate': gate,
  '0004-places': places,
  '0005-readings': readings,
}

/**
 * Whether the file already has the newest schema. Reads only. Throws a sentence when the file belongs to a newer version
 * or to another program.
 */
export function isCurrent(path: string, file: DatabaseSync): boolean {
  const names = (query: string) =>
    file
      .prepare(query)
      .all()
      .map(row => String(row['name']))
  const tables = names(`select name from sqlite_schema where type = 'table'`)
  if (tables.length === 0) return false
  if (!tables.includes('kysely_migration')) {
    throw new Error(
      `${path} is a database of another program (tables ${tables.slice(0, 3).join(', ')}): name another file.`,
    )
  }
  const applied = names('select name from kysely_migration')
  const unknown = applied.find(name => !(name in migrations))
  if (unknown !== undefined) {
    throw new Error(
      `The ledger ${path} was written by a newer version of Almanac (it has the step ${unknown}): update Almanac. The file was left as it is.`,
    )
  }
  return applied.length === Object.keys(migrations).length
}

/** Applies what is missing in one transaction that holds the write lock: of several first openers one does the work. */
export async function migrate(path: string, db: Database): Promise<void> {
  await db.transaction().execute(async transaction => {
    const migrator = new Migrator({
      db: transaction as Kysely<Tables>,
      provider: { getMigrations: async () => ({ ...migrations }) },
    })
    const { error } = await migrator.migrateToLatest()
    if (error) throw new Error(`The ledger ${path} could not be brought to the newest schema.`, { cause: error })
  })
}
