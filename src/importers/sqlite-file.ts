/**
 * Databases of other programs, read and never touched: no lock is left behind, and no file appears beside them. Only tables are
 * read, since a view is a query that somebody else wrote.
 */
import { closeSync, existsSync, lstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

export type SqliteRow = Readonly<Record<string, null | number | bigint | string | Uint8Array>>

export interface SqliteFile extends Disposable {
  readonly tables: ReadonlySet<string>
  /** Its columns; empty for a table that is not there. */
  columnsOf(table: string): ReadonlySet<string>
  /** An integer that no number holds exactly is a bigint. Throws a sentence that names the file where it is damaged. */
  rows(query: string, ...values: readonly SQLInputValue[]): Iterable<SqliteRow>
}

/**
 * Whether the file begins as SQLite databases do and has all these tables. Throws a sentence where it is a database and cannot be read:
 * that no format recognises it would be the wrong thing to say.
 */
export function isSqliteWith(path: string, tables: readonly string[]): boolean {
  if (headOf(path)?.toString('latin1', 0, 16) !== 'SQLite format 3\0') return false
  using file = openSqlite(path)
  return tables.every(table => file.tables.has(table))
}

/** Throws a sentence where the file is not a database, or cannot be read without changing it. */
export function openSqlite(path: string): SqliteFile {
  const name = basename(path)
  const readable = <Value>(read: () => Value): Value => {
    try {
      return read()
    } catch (error) {
      throw new Error(sentenceOf(name, error), { cause: error })
    }
  }
  refuseTraps(path)
  const database = readable(() => {
    const opened = new DatabaseSync(addressOf(path), { readOnly: true, timeout: 5000 })
    opened.exec('pragma trusted_schema = off')
    return opened
  })
  let tables: ReadonlySet<string>
  try {
    const found = readable(() => database.prepare("select name from sqlite_master where type = 'table'").all())
    tables = new Set(found.map(row => String(row['name'])))
  } catch (error) {
    database.close()
    throw error
  }
  return {
    tables,
    columnsOf: table => {
      if (!tables.has(table)) return new Set()
      const columns = readable(() => database.prepare('select name from pragma_table_info(?)').all(table))
      return new Set(columns.map(row => String(row['name'])))
    },
    *rows(query, ...values) {
      const iterator = readable(() => {
        const statement = database.prepare(query)
        // Otherwise one integer beyond what a number holds exactly would end the reading of all.
        statement.setReadBigInts(true)
        return statement.iterate(...values)
      }) as Iterator<Record<string, SqliteRow[string]>>
      const step = () => {
        // Node gives nothing for a value that is too large to be one.
        const next = iterator.next() as IteratorResult<Record<string, SqliteRow[string]>> | undefined
        if (next === undefined) throw new Error('it holds a value that is too large')
        return next
      }
      for (let next = readable(step); !next.done; next = readable(step)) {
        yield withNumbers(next.value)
      }
    },
    [Symbol.dispose]: () => database.close(),
  }
}

/** Integers are numbers, where a number holds them exactly. */
function withNumbers(row: Record<string, SqliteRow[string]>): SqliteRow {
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) row[name] = Number(value)
  }
  return row
}

/** SQLite opens what lies beside a database under these names: a pipe would keep it waiting for ever, and a link leads elsewhere. */
function refuseTraps(path: string): void {
  for (const suffix of ['-journal', '-wal', '-shm']) {
    const beside = lstatSync(`${path}${suffix}`, { throwIfNoEntry: false })
    if (beside !== undefined && !beside.isFile()) {
      throw new Error(
        `beside ${basename(path)} lies ${basename(path)}${suffix}, which is no file; import a copy of the database alone`,
      )
    }
  }
}

/**
 * A database in write-ahead mode that nobody has open is opened as one that cannot change: otherwise SQLite would put two files
 * beside it and leave them there. While somebody writes, those files exist already.
 */
function addressOf(path: string): URL {
  const address = pathToFileURL(path)
  const head = headOf(path)
  const isWriteAhead = head !== null && head[18] === 2
  if (isWriteAhead && !existsSync(`${path}-wal`)) address.searchParams.set('immutable', '1')
  return address
}

/** Text, which some programs store as bytes; empty for what is missing. */
export function textOf(value: SqliteRow[string] | undefined): string {
  if (value === null || value === undefined) return ''
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)
}

function headOf(path: string): Buffer | null {
  const head = Buffer.alloc(20)
  try {
    const file = openSync(path, 'r')
    try {
      return readSync(file, head, 0, head.length, 0) === head.length ? head : null
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

function sentenceOf(name: string, error: unknown): string {
  const { message, errcode } = error as Error & { errcode?: number }
  const code = (errcode ?? 0) & 0xff
  if (code === 26) return `${name} is not a SQLite database`
  if (code === 11)
    return `${name} is damaged (${message}); recover it with "sqlite3 ${name} .recover" and import the copy`
  if (code === 5 || code === 6)
    return `${name} is being written and did not become free; import it again later, or a copy`
  if (code === 8 || code === 14) {
    return `${name} cannot be read as it is (${message}): its last writer stopped in the middle, or the folder forbids it; import a copy of it and of the files beside it that begin with its name`
  }
  return `${name} cannot be read: ${message}`
}
