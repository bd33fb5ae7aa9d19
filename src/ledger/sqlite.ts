/**
 * Kysely's dialect over Node's own SQLite. Adds to Kysely's SQLite driver: transactions that take the write lock at
 * their beginning (`begin immediate`, so that two processes wait for each other instead of failing half-way), waits that do
 * not hold up the process, DDL inside transactions, and errors that say what to do. Knows nothing of the tables.
 */
import { type Stats, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
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
import { longestSleep, patience, type Waiting, whenFree } from './waiting.ts'

/** What SQLite waits by itself, in milliseconds, and blocks the process meanwhile: enough for a short write of another. */
const busyMilliseconds = 20

/** A transaction that others have to sleep through. */
const longMilliseconds = 200

/** Statements kept compiled per connection: SQLite compiles a statement in the time of about five executions. */
const keptStatements = 256

class ImmediateDriver extends SqliteDriver {
  readonly #file: DatabaseSync
  readonly #path: string
  readonly #waiting: Waiting
  #began = 0
  /** Until then the next transaction is put off. */
  #othersUntil = 0

  constructor(path: string, file: DatabaseSync, database: SqliteDatabase, waiting: Waiting) {
    super({ database })
    this.#path = path
    this.#file = file
    this.#waiting = waiting
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    return {
      // A statement that found the file busy has done nothing. Inside a transaction none does: it has the lock.
      executeQuery: <R>(query: CompiledQuery) =>
        whenFree(this.#path, this.#waiting, () => connection.executeQuery<R>(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const rest = this.#othersUntil - performance.now()
    if (rest > 0) await pause(rest)
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
    this.#began = performance.now()
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection)
    this.#letOthersIn()
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite rolls back by itself when the disk is full or fails; a second rollback would hide that error.
    if (this.#file.isTransaction) await super.rollbackTransaction(connection)
    this.#letOthersIn()
  }

  /** Who waits looks now and then; one long write after the other, without a pause, would keep it waiting till the last. */
  #letOthersIn(): void {
    const now = performance.now()
    if (now - this.#began > longMilliseconds) this.#othersUntil = now + longestSleep + 20
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Opens the file (creating it) with this product's settings; throws a sentence that names it. Changes nothing yet. */
export function openFile(path: string): DatabaseSync {
  refuseWhatIsNoFile(path)
  return inSentences(path, () => {
    const database = new DatabaseSync(path, { timeout: busyMilliseconds, enableForeignKeyConstraints: true })
    try {
      // The header is read only now: a file that is no database is found out here.
      database.prepare('select count(*) from sqlite_schema').get()
    } catch (error) {
      database.close()
      throw error
    }
    return database
  })
}

/** A pipe or a device would be told as a disk that fails. */
function refuseWhatIsNoFile(path: string): void {
  let found: Stats | undefined
  try {
    found = statSync(path, { throwIfNoEntry: false })
  } catch {
    // SQLite says that it cannot be reached.
  }
  if (found === undefined || found.isFile() || found.isDirectory()) return
  throw new Error(
    `The ledger ${path} cannot be opened: it is a pipe or a device, and no file; name a file with --ledger.`,
  )
}

/** The dialect over an open file. The connection closes when Kysely is destroyed. */
export function sqliteDialect(path: string, file: DatabaseSync, waiting: Waiting = {}): Dialect {
  const database = adapt(path, file)
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new ImmediateDriver(path, file, database, waiting),
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
  5: `is being written by another process for more than ${patience / 1000} seconds: end that process, or try again`,
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
