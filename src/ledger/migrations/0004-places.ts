/**
 * Where an imported row stood in its source, also where that is no line: `run 3f2a`, `commit 1a2b3c4`. A line stays a number in its own
 * column, as in all ledgers of before. And the way from an intervention to the rows that it came from.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table imports add column place text').execute(db)
  await sql.raw('create index imports_intervention on imports (intervention_id)').execute(db)
}
