/**
 * Campaigns: a definition, written once, and the events of its life. One process holds a campaign at a time; who may take
 * it over is decided by the caller (is the holder alive?) and settled here by compare-and-set.
 */
import type { Json } from '../experiment/json.ts'
import { now } from './environments.ts'
import type { Claimant } from './runs.ts'
import type { CampaignState, Database } from './tables.ts'
import { inTransaction } from './transaction.ts'

export interface StoredCampaign {
  readonly id: number
  readonly familyId: string
  /** The version it began with; a promotion inside the campaign is found through the family's current version. */
  readonly versionId: string
  readonly definition: Json
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** The latest event. `started` and `resumed` name the process that holds the campaign. */
  readonly last: CampaignEvent
}

export interface CampaignEvent {
  readonly id: number
  readonly state: CampaignState
  readonly detail: string | null
  readonly claimant: Claimant | null
  /** ISO 8601, UTC. */
  readonly at: string
}

/** Stores the campaign, held by the claimant from the start. */
export async function createCampaign(
  db: Database,
  campaign: {
    readonly familyId: string
    readonly versionId: string
    readonly definition: Json
    readonly claimant: Claimant
  },
): Promise<StoredCampaign> {
  return inTransaction(db, async db => {
    const { id } = await db
      .insertInto('campaigns')
      .values({
        family_id: campaign.familyId,
        version_id: campaign.versionId,
        definition: JSON.stringify(campaign.definition),
        created_at: now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await addEvent(db, id, 'started', null, campaign.claimant)
    return (await campaignById(db, id))!
  })
}

/**
 * Takes over a campaign whose latest event is still `after` (as the caller saw it when it found the holder gone).
 * False when somebody else was faster.
 */
export async function takeCampaign(db: Database, id: number, claimant: Claimant, after: number): Promise<boolean> {
  return inTransaction(db, async db => {
    const campaign = await campaignById(db, id)
    if (campaign?.last.id !== after) return false
    await addEvent(db, id, 'resumed', null, claimant)
    return true
  })
}

/** Writes that the campaign was stopped (to be resumed) or is finished, and in a sentence why. */
export async function endCampaign(
  db: Database,
  id: number,
  state: 'stopped' | 'finished',
  detail: string | null,
): Promise<void> {
  await inTransaction(db, db => addEvent(db, id, state, detail, null))
}

/** The campaign, or null. */
export async function campaignById(db: Database, id: number): Promise<StoredCampaign | null> {
  const row = await db.selectFrom('campaigns').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) return null
  const events = await eventsOf(db, id)
  return {
    id: row.id,
    familyId: row.family_id,
    versionId: row.version_id,
    definition: JSON.parse(row.definition) as Json,
    createdAt: row.created_at,
    last: events.at(-1)!,
  }
}

/** The campaign created last, of one family or of all; null when there is none. */
export async function latestCampaign(db: Database, familyId?: string): Promise<StoredCampaign | null> {
  return (await campaigns(db, familyId)).at(-1) ?? null
}

/** All campaigns, of one family or of all, in order of creation. */
export async function campaigns(db: Database, familyId?: string): Promise<StoredCampaign[]> {
  let query = db.selectFrom('campaigns').select('id').orderBy('id')
  if (familyId !== undefined) query = query.where('family_id', '=', familyId)
  const found: StoredCampaign[] = []
  for (const { id } of await query.execute()) found.push((await campaignById(db, id))!)
  return found
}

/** What happened to a campaign, in order. */
export async function eventsOf(db: Database, campaignId: number): Promise<CampaignEvent[]> {
  const rows = await db
    .selectFrom('campaign_events')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .orderBy('id')
    .execute()
  return rows.map(row => ({
    id: row.id,
    state: row.state,
    detail: row.detail,
    claimant:
      row.claimant_pid === null || row.claimant_started === null
        ? null
        : { pid: row.claimant_pid, started: row.claimant_started },
    at: row.happened_at,
  }))
}

async function addEvent(
  db: Database,
  id: number,
  state: CampaignState,
  detail: string | null,
  claimant: Claimant | null,
): Promise<void> {
  await db
    .insertInto('campaign_events')
    .values({
      campaign_id: id,
      state,
      detail,
      claimant_pid: claimant?.pid ?? null,
      claimant_started: claimant?.started ?? null,
      happened_at: now(),
    })
    .execute()
}
