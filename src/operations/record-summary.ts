/** A record as operations give it out: what a script or a person wants to know, without the whole environment around it. */
import type { ChangedOption, OutcomeKind } from '../experiment/intervention.ts'
import type { ExperimentRecord, Explanation, Forecast, MeasuredGain, ModelUse, Verdict } from '../experiment/record.ts'

export interface RecordSummary {
  readonly record: number
  readonly sentence: string
  readonly tags: readonly string[]
  readonly changes: readonly ChangedOption[]
  readonly origin: string | null
  readonly environment: string
  readonly version: string
  readonly outcome: OutcomeKind | null
  readonly measured: MeasuredGain | null
  readonly verdict: Verdict | null
  readonly runs: readonly { readonly seed: number; readonly outcome: OutcomeKind | null; readonly metrics: object }[]
  /** Stored before its first run. */
  readonly forecast: ForecastSummary | null
}

export interface ForecastSummary {
  readonly median: number
  /** The 80 % interval. */
  readonly low: number
  readonly high: number
  readonly finishes: number
  readonly forecaster: string
  /** Where a language model made it. */
  readonly explanation?: Explanation
  readonly model?: ModelUse
}

export function summariseForecast({ quantiles, finishes, forecaster, explanation, model }: Forecast): ForecastSummary {
  return {
    median: quantiles[2],
    low: quantiles[0],
    high: quantiles[4],
    finishes,
    forecaster,
    ...(explanation && { explanation }),
    ...(model && { model }),
  }
}

export function summarise(record: ExperimentRecord, forecast: Forecast | undefined): RecordSummary {
  const { id, intervention, changes, environment, runs, outcome, measured, verdict } = record
  return {
    record: id,
    sentence: intervention.sentence,
    tags: intervention.tags,
    changes,
    origin: intervention.origin,
    environment: environment.family.name,
    version: environment.version.id.slice(0, 12),
    outcome,
    measured,
    verdict,
    runs: runs.map(({ seed, outcome }) => ({ seed, outcome: outcome?.kind ?? null, metrics: outcome?.metrics ?? {} })),
    forecast: forecast ? summariseForecast(forecast) : null,
  }
}
