/**
 * One statement over many rows, for what a large import writes and looks up: compiled once, and executed for each row without anything
 * of Kysely's in between, which would take more time than SQLite.
 */
import { CompiledQuery, type Insertable, type Selectable } from 'kysely'
import type { Database, Tables } from './tables.ts'

type Row<Name extends keyof Tables> = Selectable<Tables[Name]>

/** All have the same columns. Those whose key is there already are left out; of the others it gives the columns asked for, in order. */
export async function insertNew<Name extends keyof Tables, Column extends keyof Row<Name> & string>(
  db: Database,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
  returning: readonly Column[],
): Promise<Pick<Row<Name>, Column>[]> {
  if (rows.length === 0) return []
  const columns = Object.keys(rows[0]!) as (keyof Insertable<Tables[Name]>)[]
  const text =
    `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')}) ` +
    `on conflict do nothing${returning.length === 0 ? '' : ` returning ${returning.join(', ')}`}`
  const values = rows.map(row => columns.map(column => row[column]))
  return (await db.executeQuery<Pick<Row<Name>, Column>>(CompiledQuery.raw(text, values))).rows
}

/** The rows that are equal to one of those wanted, in the columns that these have: all the same ones. */
export async function rowsLike<Name extends keyof Tables, Column extends keyof Row<Name> & string>(
  db: Database,
  table: Name,
  wanted: readonly Pick<Row<Name>, Column>[],
): Promise<Row<Name>[]> {
  if (wanted.length === 0) return []
  const columns = Object.keys(wanted[0]!) as Column[]
  const text = `select * from ${table} where ${columns.map(column => `${column} = ?`).join(' and ')}`
  const values = wanted.map(row => columns.map(column => row[column]))
  return (await db.executeQuery<Row<Name>>(CompiledQuery.raw(text, values))).rows
}
