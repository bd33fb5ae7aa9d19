/**
 * Verdicts: conclusions drawn from runs. A new one supersedes the one before it by name; none is edited or deleted, so
 * that one can see what was believed when.
 */
import type { MeasuredGain, Verdict } from '../experiment/record.ts'
import { now } from './environments.ts'
import type { Database } from './tables.ts'
import { inTransaction } from './transaction.ts'

export interface GivenVerdict {
  readonly verdict: Verdict
  /** Null for `failed`, and where the reference was not measured. */
  readonly measured: MeasuredGain | null
  /** The runs it rests on, the reference's included. */
  readonly runIds: readonly number[]
}

export interface StoredVerdict extends GivenVerdict {
  readonly id: number
  readonly interventionId: number
  /** The verdict it replaces; null for the first. */
  readonly supersedes: number | null
  /** ISO 8601, UTC. */
  readonly givenAt: string
}

/**
 * Stores the verdict as the successor of the latest one. Saying the same again from the same runs adds nothing. Its id.
 */
export async function storeVerdict(db: Database, interventionId: number, given: GivenVerdict): Promise<number> {
  return inTransaction(db, async db => {
    const row = {
      verdict: given.verdict,
      measured: given.measured === null ? null : JSON.stringify(given.measured),
      run_ids: JSON.stringify(given.runIds),
    }
    const latest = await db
      .selectFrom('verdicts')
      .selectAll()
      .where('intervention_id', '=', interventionId)
      .orderBy('id', 'desc')
      .executeTakeFirst()
    const same = latest?.verdict === row.verdict && latest.measured === row.measured && latest.run_ids === row.run_ids
    if (latest && same) return latest.id
    const { id } = await db
      .insertInto('verdicts')
      .values({ intervention_id: interventionId, ...row, supersedes: latest?.id ?? null, given_at: now() })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  })
}

/** The verdicts on an intervention, latest first: the first is the one that holds. */
export async function verdictsOf(db: Database, interventionId: number): Promise<StoredVerdict[]> {
  const rows = await db
    .selectFrom('verdicts')
    .selectAll()
    .where('intervention_id', '=', interventionId)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(row => ({
    id: row.id,
    interventionId: row.intervention_id,
    verdict: row.verdict,
    measured: row.measured === null ? null : (JSON.parse(row.measured) as MeasuredGain),
    runIds: JSON.parse(row.run_ids) as number[],
    supersedes: row.supersedes,
    givenAt: row.given_at,
  }))
}
