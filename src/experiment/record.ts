/**
 * A record: an intervention with its runs, its gain and its verdict. What a forecast learns from; a view, computed from
 * observations, never stored as truth. And the forecast itself, as it is written down before the run.
 */
import type { Usage } from '../language/usage.ts'
import type { Environment } from './environment.ts'
import type { ChangedOption, Intervention, OutcomeKind, Run } from './intervention.ts'

export type Verdict = 'better' | 'worse' | 'inconclusive' | 'failed'

/** Gain of a record over its version's reference, with what is known of its noise. */
export interface MeasuredGain {
  /** Median over finished seeds minus the reference's, larger is better. */
  readonly gain: number
  /** Standard error of the gain; null when nothing was ever repeated. */
  readonly standardError: number | null
  /** Degrees of freedom behind the standard error. */
  readonly degreesOfFreedom: number
  /** P(true gain > 0), Student's t; null when nothing was ever repeated. */
  readonly probabilityBetter: number | null
}

export interface ExperimentRecord {
  /** Id of the intervention in the ledger. */
  readonly id: number
  readonly environment: Environment
  readonly intervention: Intervention
  readonly changes: readonly ChangedOption[]
  readonly runs: readonly Run[]
  /** `finished` when at least one seed did; otherwise the commonest failure. Null while no run has ended. */
  readonly outcome: OutcomeKind | null
  /** Null when no seed finished or the reference was not measured: a failure has no gain. */
  readonly measured: MeasuredGain | null
  readonly verdict: Verdict | null
}

/** What a forecaster is asked about. */
export interface Candidate {
  readonly intervention: Intervention
  readonly changes: readonly ChangedOption[]
}

/** Levels of the quantiles of a forecast, in order. */
export const quantileLevels = [0.1, 0.25, 0.5, 0.75, 0.9] as const
export type Quantiles = readonly [number, number, number, number, number]

export interface Forecast {
  /** Quantiles of the gain, given that it finishes legally, at `quantileLevels`. */
  readonly quantiles: Quantiles
  /** Probability that it finishes legally. */
  readonly finishes: number
  /** Name of the forecaster, and the version of its code. */
  readonly forecaster: string
  readonly forecasterVersion: string
  /** Ids of the records it was conditioned on. */
  readonly recordIds: readonly number[]
  /** Present where a language model made it. */
  readonly explanation?: Explanation
  readonly model?: ModelUse
}

/** What a language model says beside its numbers. */
export interface Explanation {
  /** Ids of the records that it called the closest. */
  readonly closest: readonly number[]
  /** Whether it went by records alike, or by how the change acts. */
  readonly basis: 'analogy' | 'mechanism'
  /** What could most make it wrong, in its own words. */
  readonly uncertainty: string
  /** The numbers are the mean of this many answers, of so many that were asked for. */
  readonly answers: number
  readonly asked: number
}

/** Which language model was asked, and what this candidate's share of its answers took. */
export interface ModelUse {
  readonly name: string
  readonly effort: string | null
  readonly usage: Usage
  /** In the user's currency; null where no price is known. */
  readonly cost: number | null
}

/** A forecast that was asked for and did not come: data like any other, and never replaced by made-up numbers. */
export interface FailedForecast {
  /** Why, in a sentence. */
  readonly failed: string
  readonly forecaster: string
  readonly forecasterVersion: string
  readonly recordIds: readonly number[]
  readonly model?: ModelUse
}

export function hasFailed(forecast: Forecast | FailedForecast): forecast is FailedForecast {
  return !('quantiles' in forecast)
}
