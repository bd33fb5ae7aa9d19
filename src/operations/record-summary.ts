/** A record as operations give it out: what a script or a person wants to know, without the whole environment around it. */
import { seedOfLog } from '../experiment/imported-seed.ts'
import type { ChangedOption, OutcomeKind, Run } from '../experiment/intervention.ts'
import type { ExperimentRecord, Explanation, Forecast, MeasuredGain, ModelUse, Verdict } from '../experiment/record.ts'
import type { RunOrigins } from '../report/record-text.ts'

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
  readonly runs: readonly RunSummary[]
  /** Stored before its first run. */
  readonly forecast: ForecastSummary | null
}

export interface RunSummary {
  /** As the program got it, or as the log writes it; null where the log writes none. */
  readonly seed: number | null
  readonly outcome: OutcomeKind | null
  readonly metrics: object
  /** Of a run that a log or tracker brought: where it stands there, and what is said of the result there. */
  readonly imported?: { readonly place: string | null; readonly note: string | null }
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

export function summarise(
  record: ExperimentRecord,
  forecast: Forecast | undefined,
  origins: RunOrigins = new Map(),
): RecordSummary {
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
    runs: runs.map(run => summariseRun(run, origins)),
    forecast: forecast ? summariseForecast(forecast) : null,
  }
}

function summariseRun({ id, seed, outcome }: Run, origins: RunOrigins): RunSummary {
  const written = seedOfLog(seed)
  const { place = null, text: note = null } = origins.get(id) ?? {}
  return {
    seed: written === undefined ? seed : written,
    outcome: outcome?.kind ?? null,
    metrics: outcome?.metrics ?? {},
    ...(written === undefined ? {} : { imported: { place, note } }),
  }
}
