/**
 * Interventions, written down before they run. In one version the same intervention (by hash) is one row; the reference
 * itself is a row too, so that its runs are runs like all others.
 */
import type { Intervention } from '../experiment/intervention.ts'
import type { JsonObject } from '../experiment/json.ts'
import { amongst } from './amongst.ts'
import { now } from './environments.ts'
import { insertNew, rowsLike } from './many-rows.ts'
import type { Database, Tables } from './tables.ts'
import { inTransaction } from './transaction.ts'
import { isLiveIntervention } from './withdrawn.ts'

type InterventionRow = Pick<Tables['interventions'], 'sentence' | 'overrides' | 'diff' | 'tags' | 'origin'>

export interface StoredIntervention {
  readonly id: number
  readonly versionId: string
  readonly hash: string
  readonly kind: 'reference' | 'candidate'
  readonly intervention: Intervention
  /** ISO 8601, UTC. */
  readonly createdAt: string
}

/**
 * Stores the intervention unless the version has one with this hash; the first sentence stays. The reference's own hash
 * gives the reference.
 */
export async function ensureIntervention(
  db: Database,
  versionId: string,
  hash: string,
  intervention: Intervention,
): Promise<{ readonly id: number; readonly created: boolean }> {
  const [stored] = await ensureInterventions(db, [{ versionId, hash, intervention }])
  return stored!
}

/** The same for many at once, in order: what a large import takes. */
export async function ensureInterventions(
  db: Database,
  wanted: readonly {
    readonly versionId: string
    readonly hash: string
    readonly intervention: Intervention
  }[],
): Promise<{ readonly id: number; readonly created: boolean }[]> {
  return inTransaction(db, async db => {
    const createdAt = now()
    const columns = wanted.map(({ versionId, hash, intervention }) => ({
      version_id: versionId,
      hash,
      kind: 'candidate' as const,
      ...rowOf(intervention),
      created_at: createdAt,
    }))
    const created = await insertNew(db, 'interventions', columns, ['id', 'version_id', 'hash'])
    const keyOf = (row: { readonly version_id: string; readonly hash: string }) => `${row.version_id} ${row.hash}`
    const idOf = new Map(created.map(row => [keyOf(row), row.id]))
    const others = columns.filter(row => !idOf.has(keyOf(row))).map(({ version_id, hash }) => ({ version_id, hash }))
    for (const row of await rowsLike(db, 'interventions', others)) idOf.set(keyOf(row), row.id)
    const isNew = new Set(created.map(({ id }) => id))
    return columns.map(row => {
      const id = idOf.get(keyOf(row))!
      // Twice in one call: the first made it, as it would in two calls.
      return { id, created: isNew.delete(id) }
    })
  })
}

/** The id of the version's own reference as an intervention. */
export async function ensureReference(db: Database, versionId: string): Promise<number> {
  const row = await db
    .selectFrom('interventions')
    .select('id')
    .where('version_id', '=', versionId)
    .where('kind', '=', 'reference')
    .executeTakeFirst()
  if (!row) throw new Error(`ensureReference: the ledger has no version ${versionId}`)
  return row.id
}

/** The intervention with this id, or null. */
export async function intervention(db: Database, id: number): Promise<StoredIntervention | null> {
  const row = await db.selectFrom('interventions').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? storedIntervention(row) : null
}

/** The version's intervention with this hash, or null: how a candidate is known to have been seen before. */
export async function interventionByHash(
  db: Database,
  versionId: string,
  hash: string,
): Promise<StoredIntervention | null> {
  const row = await db
    .selectFrom('interventions')
    .selectAll()
    .where('version_id', '=', versionId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row ? storedIntervention(row) : null
}

/** Candidates of the family that came to just what has one of these hashes, at whatever version they were tried. */
export async function candidatesWithHash(
  db: Database,
  familyId: string,
  hashes: readonly string[],
): Promise<{ readonly id: number; readonly versionId: string; readonly hash: string }[]> {
  const rows = await db
    .selectFrom('interventions')
    .select(['id', 'version_id', 'hash'])
    .where('kind', '=', 'candidate')
    .where('version_id', 'in', db.selectFrom('versions').select('id').where('family_id', '=', familyId))
    .where('hash', 'in', amongst(hashes))
    .orderBy('id')
    .execute()
  return rows.map(({ id, version_id, hash }) => ({ id, versionId: version_id, hash }))
}

/** All of a version, the reference included, in order of creation. */
export async function interventionsOf(db: Database, versionId: string): Promise<StoredIntervention[]> {
  const rows = await db
    .selectFrom('interventions')
    .selectAll()
    .where('version_id', '=', versionId)
    .where(isLiveIntervention)
    .orderBy('id')
    .execute()
  return rows.map(storedIntervention)
}

function rowOf(intervention: Intervention): InterventionRow {
  const { sentence, overrides, diff, tags, origin } = intervention
  return {
    sentence,
    overrides: overrides === null ? null : JSON.stringify(overrides),
    diff,
    tags: JSON.stringify(tags),
    origin,
  }
}

export function interventionOf(row: InterventionRow): Intervention {
  return {
    sentence: row.sentence,
    overrides: row.overrides === null ? null : (JSON.parse(row.overrides) as JsonObject),
    diff: row.diff,
    tags: row.tags === '[]' ? [] : (JSON.parse(row.tags) as string[]),
    origin: row.origin,
  }
}

function storedIntervention(
  row: {
    [column in keyof Tables['interventions']]: column extends 'id' ? number : Tables['interventions'][column]
  },
): StoredIntervention {
  return {
    id: row.id,
    versionId: row.version_id,
    hash: row.hash,
    kind: row.kind,
    intervention: interventionOf(row),
    createdAt: row.created_at,
  }
}
