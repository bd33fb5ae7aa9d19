/**
 * Families and versions: what is measured, and the references that gains are against. Which version of a family is
 * current is a list that only grows, so that a report can say since when and why.
 */
import { type SqlBool, sql } from 'kysely'
import { type Family, familyId, type Reference, type Version, versionId } from '../experiment/environment.ts'
import { referenceHash } from '../experiment/identity.ts'
import type { Database, Tables, WhyCurrent } from './tables.ts'
import { inTransaction } from './transaction.ts'
import { isLiveFamily, isLiveIntervention, isLiveRun } from './withdrawn.ts'

type VersionRow = Tables['versions']

export interface StoredFamily {
  readonly id: string
  readonly family: Family
}

/**
 * Stores the family if it is new and returns its id. What is not part of its identity (description, where metrics are
 * read) is brought up to date.
 */
export async function ensureFamily(db: Database, family: Family): Promise<string> {
  const id = familyId(family)
  const definition = JSON.stringify(family)
  const found = await db.selectFrom('families').select('definition').where('id', '=', id).executeTakeFirst()
  if (found?.definition === definition) return id
  await inTransaction(db, db =>
    db
      .insertInto('families')
      .values({ id, name: family.name, definition, created_at: now() })
      .onConflict(conflict => conflict.column('id').doUpdateSet({ definition }))
      .execute(),
  )
  return id
}

/** The family, or null. */
export async function family(db: Database, id: string): Promise<Family | null> {
  const row = await db.selectFrom('families').select('definition').where('id', '=', id).executeTakeFirst()
  return row ? (JSON.parse(row.definition) as Family) : null
}

/**
 * All families of that name, or all there are, oldest first: a name is kept when what it measures changes. Not those of which all that was
 * imported was withdrawn.
 */
export async function families(db: Database, name?: string): Promise<StoredFamily[]> {
  let query = db
    .selectFrom('families')
    .select(['id', 'definition'])
    .where(isLiveFamily)
    .orderBy('created_at')
    .orderBy('id')
  if (name !== undefined) query = query.where('name', '=', name)
  return (await query.execute()).map(row => ({ id: row.id, family: JSON.parse(row.definition) as Family }))
}

/** How many candidates of each family ran. */
export async function countsOfFamilies(db: Database): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('interventions')
    .innerJoin('versions', 'versions.id', 'interventions.version_id')
    .select(({ fn }) => ['versions.family_id', fn.countAll<number>().as('count')])
    .where('interventions.kind', '=', 'candidate')
    .where(sql<SqlBool>`exists (select 1 from runs where intervention_id = interventions.id and ${isLiveRun})`)
    .groupBy('versions.family_id')
    .execute()
  return new Map(rows.map(({ family_id, count }) => [family_id, count]))
}

/**
 * Stores the version if it is new, with the reference as an intervention of its own: its runs are runs like all others, and a candidate that changes nothing meets its hash. A version that exists keeps its first parent, commit and label, but
 * for what was read wrongly: where its parent, or all that was measured at it, was withdrawn.
 */
export async function ensureVersion(
  db: Database,
  family: string,
  reference: Reference,
  parent: Version['parent'] = null,
): Promise<Version> {
  const id = versionId(family, reference)
  const found = await version(db, id)
  if (found) return restated(db, found, reference, parent)
  return inTransaction(db, async db => {
    const created = await db
      .insertInto('versions')
      .values({
        id,
        family_id: family,
        reference: JSON.stringify(reference),
        parent_version_id: parent?.versionId ?? null,
        parent_intervention_id: parent?.interventionId ?? null,
        created_at: now(),
      })
      .onConflict(conflict => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (created) {
      const unchanged = { sentence: 'the reference', overrides: null, diff: null, tags: '[]', origin: null }
      await db
        .insertInto('interventions')
        .values({ version_id: id, hash: referenceHash(reference), kind: 'reference', ...unchanged, created_at: now() })
        .execute()
    }
    return (await version(db, id))!
  })
}

/** Puts right what withdrawn readings said of it: its label where they alone measured it, and where it came from. */
async function restated(
  db: Database,
  found: Version,
  reference: Reference,
  parent: Version['parent'],
): Promise<Version> {
  const any = await db.selectFrom('withdrawn_runs').select('run_id').limit(1).executeTakeFirst()
  if (any === undefined) return found
  const measured = await db
    .selectFrom('interventions')
    .innerJoin('runs', 'runs.intervention_id', 'interventions.id')
    .select(isLiveRun.as('is_live'))
    .where('interventions.version_id', '=', found.id)
    .orderBy('is_live', 'desc')
    .limit(1)
    .executeTakeFirst()
  const isWithdrawn = measured !== undefined && !measured.is_live
  const isOfWithdrawn = sql<SqlBool>`interventions.id = ${found.parent?.interventionId ?? null} and not ${isLiveIntervention}`
  const ofWithdrawn = await db.selectFrom('interventions').select('id').where(isOfWithdrawn).executeTakeFirst()
  if (!isWithdrawn && ofWithdrawn === undefined) return found
  // What another part of the lineage still says stays: it must not lead back here.
  const before = parent === null ? [] : await lineage(db, parent.versionId)
  const leadsBack = before.some(({ id }) => id === found.id)
  const righted = { ...found, ...(isWithdrawn ? { reference } : {}), ...(leadsBack ? {} : { parent }) }
  await db
    .updateTable('versions')
    .set({
      reference: JSON.stringify(righted.reference),
      parent_version_id: righted.parent?.versionId ?? null,
      parent_intervention_id: righted.parent?.interventionId ?? null,
    })
    .where('id', '=', found.id)
    .execute()
  return righted
}

/** The version, or null. */
export async function version(db: Database, id: string): Promise<Version | null> {
  const row = await db.selectFrom('versions').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? versionOf(row) : null
}

/** The version that was made current last, with why and since when; null for a family that has none. */
export async function currentVersion(
  db: Database,
  family: string,
): Promise<{ readonly version: Version; readonly why: WhyCurrent; readonly since: string } | null> {
  const row = await db
    .selectFrom('current_versions')
    .innerJoin('versions', 'versions.id', 'current_versions.version_id')
    .selectAll('versions')
    .select(['current_versions.why', 'current_versions.set_at'])
    .where('current_versions.family_id', '=', family)
    .orderBy('current_versions.id', 'desc')
    .executeTakeFirst()
  return row ? { version: versionOf(row), why: row.why, since: row.set_at } : null
}

/** Makes the version current. Nothing is added when it is current for the same reason already. */
export async function setCurrentVersion(db: Database, family: string, id: string, why: WhyCurrent): Promise<void> {
  await inTransaction(db, async db => {
    const current = await currentVersion(db, family)
    if (current?.version.id === id && current.why === why) return
    await db.insertInto('current_versions').values({ family_id: family, version_id: id, why, set_at: now() }).execute()
  })
}

/** The version and its ancestors, the version itself first. */
export async function lineage(db: Database, id: string): Promise<Version[]> {
  const found: Version[] = []
  for (let next: string | undefined = id; next !== undefined; ) {
    const here: Version | null = await version(db, next)
    if (here) found.push(here)
    next = here?.parent?.versionId
  }
  return found
}

export function versionOf(row: VersionRow): Version {
  const { parent_version_id: parentVersion, parent_intervention_id: parentIntervention } = row
  return {
    id: row.id,
    familyId: row.family_id,
    reference: JSON.parse(row.reference) as Reference,
    parent:
      parentVersion !== null && parentIntervention !== null
        ? { versionId: parentVersion, interventionId: parentIntervention }
        : null,
  }
}

export function now(): string {
  return new Date().toISOString()
}
