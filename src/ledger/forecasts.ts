/**
 * Forecasts, stored before the run and never edited; a second opinion is a second row. Those that failed are kept apart:
 * they have no numbers.
 */
import type { Explanation, FailedForecast, Forecast, ModelUse, Quantiles } from '../experiment/record.ts'
import { amongst } from './amongst.ts'
import { now } from './environments.ts'
import type { Database } from './tables.ts'
import { inTransaction } from './transaction.ts'

export interface StoredForecast extends Forecast {
  readonly id: number
  readonly interventionId: number
  readonly campaignId: number | null
  readonly round: number | null
  /** ISO 8601, UTC. */
  readonly madeAt: string
}

/** What a forecast was made for, where it was for a round of a campaign. */
export interface Purpose {
  readonly campaignId: number
  readonly round: number
}

/** Stores the forecast, with the campaign and round it was made for where there is one; its id. */
export async function storeForecast(
  db: Database,
  interventionId: number,
  forecast: Forecast,
  purpose: Purpose | null = null,
): Promise<number> {
  return inTransaction(db, async db => {
    const { id } = await db
      .insertInto('forecasts')
      .values({
        intervention_id: interventionId,
        quantiles: JSON.stringify(forecast.quantiles),
        finishes: forecast.finishes,
        forecaster: forecast.forecaster,
        forecaster_version: forecast.forecasterVersion,
        record_ids: JSON.stringify(forecast.recordIds),
        campaign_id: purpose?.campaignId ?? null,
        round: purpose?.round ?? null,
        made_at: now(),
        explanation: textOf(forecast.explanation),
        model: textOf(forecast.model),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  })
}

export interface StoredFailedForecast extends FailedForecast {
  readonly interventionId: number
  readonly campaignId: number | null
  readonly round: number | null
  /** ISO 8601, UTC. */
  readonly madeAt: string
}

/** Stores that a forecast was asked for and did not come. */
export async function storeFailedForecast(
  db: Database,
  interventionId: number,
  { failed, forecaster, forecasterVersion, recordIds, model }: FailedForecast,
  purpose: Purpose | null = null,
): Promise<void> {
  await db
    .insertInto('failed_forecasts')
    .values({
      intervention_id: interventionId,
      reason: failed,
      forecaster,
      forecaster_version: forecasterVersion,
      record_ids: JSON.stringify(recordIds),
      model: textOf(model),
      campaign_id: purpose?.campaignId ?? null,
      round: purpose?.round ?? null,
      made_at: now(),
    })
    .execute()
}

/** The forecasts that failed, of an intervention or a campaign, latest first. */
export async function failedForecastsOf(
  db: Database,
  { interventionId, campaignId }: { readonly interventionId?: number; readonly campaignId?: number },
): Promise<StoredFailedForecast[]> {
  const rows = await db
    .selectFrom('failed_forecasts')
    .selectAll()
    .$if(interventionId !== undefined, query => query.where('intervention_id', '=', interventionId!))
    .$if(campaignId !== undefined, query => query.where('campaign_id', '=', campaignId!))
    .orderBy('id', 'desc')
    .execute()
  return rows.map(row => ({
    interventionId: row.intervention_id,
    failed: row.reason,
    forecaster: row.forecaster,
    forecasterVersion: row.forecaster_version,
    recordIds: JSON.parse(row.record_ids) as number[],
    ...(row.model === null ? {} : { model: JSON.parse(row.model) as ModelUse }),
    campaignId: row.campaign_id,
    round: row.round,
    madeAt: row.made_at,
  }))
}

/** The forecasts of an intervention, latest first. */
export async function forecastsOf(db: Database, interventionId: number): Promise<StoredForecast[]> {
  const rows = await select(db).where('intervention_id', '=', interventionId).orderBy('id', 'desc').execute()
  return rows.map(forecastOf)
}

/** The latest forecast of each intervention of these versions that has one, in one query: for tables and reports. */
export async function latestForecasts(
  db: Database,
  versionIds: readonly string[],
): Promise<Map<number, StoredForecast>> {
  const rows = await select(db)
    .where('intervention_id', 'in', inner =>
      inner.selectFrom('interventions').select('interventions.id').where('version_id', 'in', amongst(versionIds)),
    )
    .orderBy('id')
    .execute()
  return new Map(rows.map(row => [row.intervention_id, forecastOf(row)]))
}

export function select(db: Database) {
  return db.selectFrom('forecasts').selectAll()
}

export function forecastOf(row: Awaited<ReturnType<ReturnType<typeof select>['execute']>>[number]): StoredForecast {
  return {
    id: row.id,
    interventionId: row.intervention_id,
    quantiles: JSON.parse(row.quantiles) as Quantiles,
    finishes: row.finishes,
    forecaster: row.forecaster,
    forecasterVersion: row.forecaster_version,
    recordIds: JSON.parse(row.record_ids) as number[],
    ...(row.explanation === null ? {} : { explanation: JSON.parse(row.explanation) as Explanation }),
    ...(row.model === null ? {} : { model: JSON.parse(row.model) as ModelUse }),
    campaignId: row.campaign_id,
    round: row.round,
    madeAt: row.made_at,
  }
}

function textOf(value: Explanation | ModelUse | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
