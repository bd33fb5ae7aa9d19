/**
 * Readings: how a source was read, by which flags and into which environment. A reading can be withdrawn: what it brought stays in the
 * file, and is in no list any more.
 */
import { type SqlBool, sql } from 'kysely'
import type { Json } from '../experiment/json.ts'
import { amongst } from './amongst.ts'
import { now } from './environments.ts'
import { placeOf } from './imports.ts'
import type { Database } from './tables.ts'
import { inTransaction } from './transaction.ts'
import { isLiveRun } from './withdrawn.ts'

export interface NewReading {
  readonly familyId: string
  /** Tells where the source is from all other places, and does not say it. */
  readonly place: string
  /** What it is called. */
  readonly source: string
  /** What whoever reads wants to know when the source comes again. */
  readonly definition: Json
}

export interface StoredReading extends NewReading {
  readonly id: number
  /** ISO 8601, UTC. */
  readonly readAt: string
}

/** Stores the reading; the rows that it brought name it by this id. */
export async function storeReading(db: Database, { familyId, place, source, definition }: NewReading): Promise<number> {
  const { id } = await db
    .insertInto('readings')
    .values({ family_id: familyId, place, source, definition: JSON.stringify(definition), read_at: now() })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Those that were not withdrawn, oldest first. */
export async function readings(db: Database): Promise<StoredReading[]> {
  const rows = await db.selectFrom('readings').selectAll().where('withdrawn_at', 'is', null).orderBy('id').execute()
  return rows.map(({ id, family_id, place, source, definition, read_at }) => ({
    id,
    familyId: family_id,
    place,
    source,
    definition: definitionIn(definition),
    readAt: read_at,
  }))
}

/**
 * Leaves out what the readings brought, from now on and everywhere. Their rows can be imported anew; candidates of which a forecast or a
 * campaign speaks stay as what was written down and not run. Where one of the rows had become a family's current version, the version that was current before it is so
 * again. Of a reading that is withdrawn already nothing changes.
 */
export async function withdrawReadings(db: Database, ids: readonly number[]): Promise<void> {
  await inTransaction(db, async db => {
    for (const id of ids) {
      const withdrawn = await db
        .updateTable('readings')
        .set({ withdrawn_at: now() })
        .where('id', '=', id)
        .where('withdrawn_at', 'is', null)
        .returning('family_id')
        .executeTakeFirst()
      if (withdrawn === undefined) continue
      await sql`
        insert into withdrawn_runs (run_id) select run_id from imports where reading_id = ${id} and run_id is not null
      `.execute(db)
      await sql`
        update interventions set hash = 'withdrawn ' || id || ' ' || hash
        where id in (select intervention_id from imports where reading_id = ${id} and run_id is not null)
          and kind = 'candidate'
          and not exists (select 1 from runs where intervention_id = interventions.id and ${isLiveRun})
          and not exists (select 1 from forecasts where intervention_id = interventions.id)
          and not exists (select 1 from failed_forecasts where intervention_id = interventions.id)
          and not exists (select 1 from choices where intervention_id = interventions.id)
      `.execute(db)
      await sql`
        update imports set source_key = 'withdrawn ' || reading_id || ' ' || source_key where reading_id = ${id}
      `.execute(db)
      await goBack(db, withdrawn.family_id)
    }
  })
}

/** From a version that only withdrawn runs had measured to the last one that is no import's, or still is measured. */
async function goBack(db: Database, familyId: string): Promise<void> {
  const isMeasured = sql<SqlBool>`exists (
    select 1 from interventions join runs on runs.intervention_id = interventions.id
    where interventions.version_id = current_versions.version_id and ${isLiveRun}
  )`
  const stands = sql<SqlBool>`(current_versions.why <> 'imported' or ${isMeasured})`
  const [last, standing] = await Promise.all(
    [sql<SqlBool>`true`, stands].map(condition =>
      db
        .selectFrom('current_versions')
        .select(['id', 'version_id', 'why'])
        .where('family_id', '=', familyId)
        .where(condition)
        .orderBy('id', 'desc')
        .executeTakeFirst(),
    ),
  )
  if (standing === undefined || standing.id === last!.id) return
  const { version_id, why } = standing
  await db.insertInto('current_versions').values({ family_id: familyId, version_id, why, set_at: now() }).execute()
}

export interface RowOfReading {
  readonly key: string
  /** Where it stood. */
  readonly place: string | null
  readonly interventionId: number
  readonly runId: number
}

/** The rows that became a run, in order. */
export async function rowsOfReading(db: Database, id: number): Promise<readonly RowOfReading[]> {
  const rows = await db
    .selectFrom('imports')
    .select(['source_key', 'line', 'place', 'intervention_id', 'run_id'])
    .where('reading_id', '=', id)
    .where('run_id', 'is not', null)
    .orderBy('run_id')
    .execute()
  return rows.map(row => ({
    key: row.source_key,
    place: placeOf(row),
    interventionId: row.intervention_id!,
    runId: row.run_id!,
  }))
}

/** How many runs the reading brought. */
export async function countRunsOfReading(db: Database, id: number): Promise<number> {
  const { count } = await db
    .selectFrom('imports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('reading_id', '=', id)
    .where('run_id', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** From how many rows the runs of these readings came: a row that was kept is a run of the reference that it became as well. */
export async function countRowsOfReadings(db: Database, ids: readonly number[]): Promise<number> {
  const isSecond = sql<SqlBool>`interventions.kind = 'reference' and exists (
    select 1 from versions join imports as kept on kept.intervention_id = versions.parent_intervention_id
    where versions.id = interventions.version_id and kept.reading_id = imports.reading_id
      and kept.line is imports.line and kept.place is imports.place
  )`
  const { count } = await db
    .selectFrom('imports')
    .innerJoin('interventions', 'interventions.id', 'imports.intervention_id')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('imports.reading_id', 'in', amongst(ids))
    .where('imports.run_id', 'is not', null)
    .where(sql<SqlBool>`not (${isSecond})`)
    .executeTakeFirstOrThrow()
  return count
}

/** Null where somebody's file has something else there. */
function definitionIn(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}
