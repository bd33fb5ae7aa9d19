/**
 * Kysely's dialect over Node's own SQLite. Adds to Kysely's SQLite driver: transactions that take the write lock at
 * their beginning (`begin immediate`, so that two processes wait for each other instead of failing half-way), DDL inside
 * transactions, and errors that say what to do. Knows nothing of the tables.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

/**
 * How long one process waits for another's write, in milliseconds. Most writes are short; an import of a million rows holds the file for a
 * minute, and a campaign must not end for that.
 */
const busyMilliseconds = 300_000

/** Statements kept compiled per connection: SQLite compiles a statement in the time of about five executions. */
const keptStatements = 256

class ImmediateDriver extends SqliteDriver {
  readonly #file: DatabaseSync

  constructor(file: DatabaseSync, database: SqliteDatabase) {
    super({ database })
    this.#file = file
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite rolls back by itself when the disk is full or fails; a second rollback would hide that error.
    if (this.#file.isTransaction) await super.rollbackTransaction(connection)
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Opens the file (creating it) with this product's settings; throws a sentence that names it. Changes nothing yet. */
export function openFile(path: string): DatabaseSync {
  return inSentences(path, () => {
    const database = new DatabaseSync(path, { timeout: busyMilliseconds, enableForeignKeyConstraints: true })
    // The header is read only now: a file that is no database is found out here.
    database.prepare('select count(*) from sqlite_schema').get()
    return database
  })
}

/** The dialect over an open file. The connection closes when Kysely is destroyed. */
export function sqliteDialect(path: string, file: DatabaseSync): Dialect {
  const database = adapt(path, file)
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new ImmediateDriver(file, database),
    createIntrospector: db => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function adapt(path: string, file: DatabaseSync): SqliteDatabase {
  const kept = new Map<string, StatementSync>()
  const prepare = (text: string): StatementSync => {
    const found = kept.get(text)
    if (found) return found
    const statement = file.prepare(text)
    if (kept.size >= keptStatements) kept.delete(kept.keys().next().value!)
    kept.set(text, statement)
    return statement
  }
  return {
    close: () => file.close(),
    prepare: text => {
      const statement = inSentences(path, () => prepare(text))
      return {
        reader: statement.columns().length > 0,
        all: parameters => inSentences(path, () => parameterRows(parameters).flatMap(row => statement.all(...row))),
        run: parameters =>
          inSentences(
            path,
            () =>
              parameterRows(parameters)
                .map(row => statement.run(...row))
                .at(-1)!,
          ),
        iterate: parameters => statement.iterate(...(parameters as SQLInputValue[])),
      }
    },
  }
}

/** Rows of parameters, where the statement is to be executed for each of many (`many-rows.ts`); otherwise the only one. */
function parameterRows(parameters: readonly unknown[]): readonly SQLInputValue[][] {
  return (Array.isArray(parameters[0]) ? parameters : [parameters]) as SQLInputValue[][]
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html) that a user can do something about. */
const sentences: Readonly<Record<number, string>> = {
  5: `is being written by another process for more than ${busyMilliseconds / 1000} seconds: end that process, or try again`,
  8: 'cannot be written: it, or its folder, is read-only',
  10: 'could not be read or written: the disk is full or reports an error; free some space, or check it, and repeat the command',
  11: 'is damaged: restore a copy of it; `sqlite3 FILE .recover` may save what is readable',
  13: 'cannot grow because the disk is full: free some space and repeat the command; nothing was half-written',
  14: 'cannot be opened: its folder must exist and be writable, and the file must be a file',
  26: 'is not a database: name another file, or move this one away',
}

export function inSentences<T>(path: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    const code = (error as { errcode?: unknown }).errcode
    const sentence = typeof code === 'number' ? sentences[code & 0xff] : undefined
    if (sentence === undefined) throw error
    throw new Error(`The ledger ${path} ${sentence}.`, { cause: error })
  }
}
