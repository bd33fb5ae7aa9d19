/**
 * Rounds of a campaign: what was dropped and why, what was forecast, what was chosen and with which probability. A round
 * is stored whole, in one transaction, before any of its runs starts: a resumed campaign finds all of it or none.
 */
import type { Intervention } from '../experiment/intervention.ts'
import type { Forecast } from '../experiment/record.ts'
import { now } from './environments.ts'
import { forecastOf, type StoredForecast, select as selectForecasts, storeForecast } from './forecasts.ts'
import { ensureIntervention, interventionOf } from './interventions.ts'
import type { Choice, Database } from './tables.ts'
import { inTransaction } from './transaction.ts'

export interface RoundCandidate {
  readonly hash: string
  readonly intervention: Intervention
  /** Null where the gate held it back before a forecast was asked for; never of what is chosen. */
  readonly forecast: Forecast | null
  /** Probability with which the choice rule runs this candidate, given the forecasts. */
  readonly probability: number
  readonly choice: Choice
  /** Why the gate held it back; null where it passed. It may have been explored all the same. */
  readonly gated: string | null
}

export interface NewRound {
  readonly campaignId: number
  /** 1, 2, 3, … */
  readonly round: number
  /** The version the candidates are relative to. */
  readonly versionId: string
  readonly candidates: readonly RoundCandidate[]
  readonly dropped: readonly { readonly intervention: Intervention; readonly why: string }[]
}

export interface StoredRound {
  readonly campaignId: number
  readonly round: number
  /** ISO 8601, UTC. */
  readonly storedAt: string
  /** In the order they were given. */
  readonly candidates: readonly {
    readonly interventionId: number
    readonly versionId: string
    readonly hash: string
    readonly intervention: Intervention
    readonly forecast: StoredForecast | null
    readonly probability: number
    readonly choice: Choice
    readonly gated: string | null
  }[]
  readonly dropped: readonly { readonly intervention: Intervention; readonly why: string }[]
}

/**
 * Stores the round with its interventions and forecasts. Returns the round as it stands: the one stored before, if
 * there was one.
 */
export async function storeRound(db: Database, round: NewRound): Promise<StoredRound> {
  return inTransaction(db, async db => {
    const key = { campaign_id: round.campaignId, round: round.round }
    const created = await db
      .insertInto('rounds')
      .values({ ...key, stored_at: now() })
      .onConflict(conflict => conflict.doNothing())
      .returning('round')
      .executeTakeFirst()
    if (created) {
      for (const [position, candidate] of round.candidates.entries()) {
        const { id } = await ensureIntervention(db, round.versionId, candidate.hash, candidate.intervention)
        const { forecast, probability, choice, gated } = candidate
        const forecastId = forecast === null ? null : await storeForecast(db, id, forecast, round)
        await db
          .insertInto('choices')
          .values({ ...key, position, intervention_id: id, forecast_id: forecastId, probability, choice, gated })
          .execute()
      }
      for (const { intervention, why } of round.dropped) {
        const row = { ...key, intervention: JSON.stringify(intervention), why }
        await db.insertInto('dropped_candidates').values(row).execute()
      }
    }
    const stored = await roundsOf(db, round.campaignId)
    return stored.find(other => other.round === round.round)!
  })
}

/** All rounds of the campaign, in order. */
export async function roundsOf(db: Database, campaignId: number): Promise<StoredRound[]> {
  const rounds = await db
    .selectFrom('rounds')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .orderBy('round')
    .execute()
  const choices = await db
    .selectFrom('choices')
    .innerJoin('interventions', 'interventions.id', 'choices.intervention_id')
    .selectAll('interventions')
    .select(['choices.round', 'choices.forecast_id', 'choices.probability', 'choices.choice', 'choices.gated'])
    .where('choices.campaign_id', '=', campaignId)
    .orderBy('choices.round')
    .orderBy('choices.position')
    .execute()
  const forecasts = await selectForecasts(db).where('campaign_id', '=', campaignId).execute()
  const forecastById = new Map(forecasts.map(row => [row.id, forecastOf(row)]))
  const dropped = await db
    .selectFrom('dropped_candidates')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .orderBy('id')
    .execute()
  return rounds.map(({ round, stored_at }) => ({
    campaignId,
    round,
    storedAt: stored_at,
    candidates: choices
      .filter(row => row.round === round)
      .map(row => ({
        interventionId: row.id,
        versionId: row.version_id,
        hash: row.hash,
        intervention: interventionOf(row),
        forecast: row.forecast_id === null ? null : (forecastById.get(row.forecast_id) ?? null),
        probability: row.probability,
        choice: row.choice,
        gated: row.gated,
      })),
    dropped: dropped
      .filter(row => row.round === round)
      .map(row => ({ intervention: JSON.parse(row.intervention) as Intervention, why: row.why })),
  }))
}
