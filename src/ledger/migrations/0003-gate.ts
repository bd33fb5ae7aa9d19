/**
 * Why the gate held a candidate back, beside its forecast and the chance with which it runs all the same. Null for what
 * passed, and for all rounds of before there was a gate.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table choices add column gated text').execute(db)
}
