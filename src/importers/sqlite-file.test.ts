import { copyFileSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { isSqliteWith, openSqlite, textOf } from './sqlite-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'sqlite-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

function database(name: string, sql: string): string {
  const path = join(folder, name)
  using made = new DatabaseSync(path)
  made.exec(sql)
  return path
}

describe('databases of other programs', () => {
  test('one in write-ahead mode that nobody has open is read without a file appearing beside it', () => {
    const path = database('a #1?.db', 'pragma journal_mode = wal; create table t (x); insert into t values (1), (2)')
    const before = readdirSync(folder)
    {
      using file = openSqlite(path)
      expect([...file.rows('select x from t where x > ?', 1)]).toEqual([{ x: 2 }])
    }
    expect(readdirSync(folder)).toEqual(before)
  })

  test('what a writer has not yet moved into the database is read too', () => {
    const path = database('live.db', 'pragma journal_mode = wal; create table t (x)')
    using writer = new DatabaseSync(path)
    writer.exec('insert into t values (3)')
    using file = openSqlite(path)
    expect([...file.rows('select x from t')]).toEqual([{ x: 3 }])
  })

  test('an integer beyond what a number holds exactly is kept exactly, and the others are numbers', () => {
    const path = database('large.db', 'create table t (x); insert into t values (9007199254740993), (7), (0.5)')
    using file = openSqlite(path)
    expect([...file.rows('select x from t')]).toEqual([{ x: 9007199254740993n }, { x: 7 }, { x: 0.5 }])
  })

  test.each(['-journal', '-wal', '-shm'])(
    'one with a %s that is no file is refused: SQLite would open that as well',
    suffix => {
      const path = database(`trap${suffix}.db`, 'create table t (x)')
      symlinkSync(join(folder, 'elsewhere'), `${path}${suffix}`)
      expect(() => openSqlite(path)).toThrow(`lies trap${suffix}.db${suffix}, which is no file`)
    },
  )

  test('views are no tables, and nothing can be written', () => {
    const path = database('view.db', 'create table t (x, y); create view v as select x from t')
    using file = openSqlite(path)
    expect([...file.tables]).toEqual(['t'])
    expect([...file.columnsOf('t')]).toEqual(['x', 'y'])
    expect([...file.columnsOf('v')]).toEqual([])
    expect(() => [...file.rows('insert into t values (1, 2)')]).toThrow('view.db cannot be read as it is')
  })

  test('a file is told by its beginning and its tables', () => {
    const path = database('tables.db', 'create table a (x); create table b (x)')
    expect(isSqliteWith(path, ['a', 'b'])).toBe(true)
    expect(isSqliteWith(path, ['a', 'c'])).toBe(false)
    writeFileSync(join(folder, 'text.db'), 'SQLite format of a kind, but no database')
    expect(isSqliteWith(join(folder, 'text.db'), [])).toBe(false)
    expect(isSqliteWith(join(folder, 'missing.db'), [])).toBe(false)
  })

  test('what is no database, or a damaged one, is refused with a sentence', () => {
    writeFileSync(join(folder, 'notes.db'), 'x'.repeat(5000))
    expect(() => openSqlite(join(folder, 'notes.db'))).toThrow('notes.db is not a SQLite database')
    const path = database('torn.db', `create table t (x); insert into t values (zeroblob(100000))`)
    truncateSync(path, 8192)
    expect(() => isSqliteWith(path, ['t'])).toThrow('torn.db is damaged')
    expect(() => openSqlite(path)).toThrow(/^torn\.db is damaged .* "sqlite3 torn\.db \.recover"/)
  })

  test('one whose writer was killed in the middle is refused: nothing may be repaired here', () => {
    const path = database('live2.db', 'create table t (x); insert into t values (zeroblob(50000))')
    using writer = new DatabaseSync(path)
    writer.exec(
      'pragma cache_size = 1; begin; update t set x = randomblob(50000); insert into t values (randomblob(90000))',
    )
    for (const end of ['', '-journal']) copyFileSync(path + end, join(folder, `killed.db${end}`))
    writer.exec('rollback')
    expect(() => openSqlite(join(folder, 'killed.db'))).toThrow(/^killed\.db cannot be read as it is/)
  })

  test('text that was stored as bytes is text', () => {
    expect(textOf(new TextEncoder().encode('µs'))).toBe('µs')
    expect([textOf(null), textOf(undefined), textOf(3), textOf('a')]).toEqual(['', '', '3', 'a'])
  })
})
