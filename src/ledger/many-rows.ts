/**
 * Statements over many rows at once, for what a large import writes and looks up. Their text is made here: Kysely makes an object for
 * every value, which would be most of the time of a million rows.
 */
import { CompiledQuery, type Insertable, type Selectable } from 'kysely'
import type { Database, Tables } from './tables.ts'

/** All have the same columns. Those whose key is there already are left out; of the others it gives the columns asked for. */
export async function insertNew<Name extends keyof Tables, Column extends keyof Selectable<Tables[Name]> & string>(
  db: Database,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
  returning: readonly Column[],
): Promise<Pick<Selectable<Tables[Name]>, Column>[]> {
  if (rows.length === 0) return []
  const columns = Object.keys(rows[0]!) as (keyof Insertable<Tables[Name]>)[]
  const marks = `(${columns.map(() => '?').join(', ')})`
  const values: unknown[] = []
  for (const row of rows) for (const column of columns) values.push(row[column])
  const text =
    `insert into ${table} (${columns.join(', ')}) values ${Array(rows.length).fill(marks).join(', ')} ` +
    `on conflict do nothing${returning.length === 0 ? '' : ` returning ${returning.join(', ')}`}`
  const written = await db.executeQuery<Pick<Selectable<Tables[Name]>, Column>>(CompiledQuery.raw(text, values))
  return written.rows
}

/** The rows whose column has one of the values. */
export async function rowsWith<Name extends keyof Tables>(
  db: Database,
  table: Name,
  column: keyof Tables[Name] & string,
  values: readonly (string | number)[],
): Promise<Selectable<Tables[Name]>[]> {
  if (values.length === 0) return []
  const text = `select * from ${table} where ${column} in (${Array(values.length).fill('?').join(', ')})`
  return (await db.executeQuery<Selectable<Tables[Name]>>(CompiledQuery.raw(text, [...values]))).rows
}
