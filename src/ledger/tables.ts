/**
 * The tables as Kysely's types. JSON is text here and values in the functions that read and write it; times are ISO 8601
 * in UTC.
 */
import type { Generated, Kysely } from 'kysely'
import type { OutcomeKind } from '../experiment/intervention.ts'
import type { Verdict } from '../experiment/record.ts'

export type WhyCurrent = 'configured' | 'promoted' | 'imported'
export type CampaignState = 'started' | 'resumed' | 'stopped' | 'finished'
export type Choice = 'exploited' | 'explored' | 'passed-over'

export interface Tables {
  families: { id: string; name: string; definition: string; created_at: string }
  versions: {
    id: string
    family_id: string
    reference: string
    parent_version_id: string | null
    parent_intervention_id: number | null
    created_at: string
  }
  current_versions: { id: Generated<number>; family_id: string; version_id: string; why: WhyCurrent; set_at: string }
  interventions: {
    id: Generated<number>
    version_id: string
    hash: string
    kind: 'reference' | 'candidate'
    sentence: string
    overrides: string | null
    diff: string | null
    tags: string
    origin: string | null
    created_at: string
  }
  runs: {
    id: Generated<number>
    intervention_id: number
    seed: number
    attempt: number
    campaign_id: number | null
    folder: string | null
    claimant_pid: number | null
    claimant_started: string | null
    claimed_at: string
  }
  outcomes: {
    run_id: number
    kind: OutcomeKind
    reason: string | null
    metrics: string
    exit_code: number | null
    started_at: string | null
    finished_at: string | null
    seconds: number | null
    cost: number | null
    written_at: string
  }
  forecasts: {
    id: Generated<number>
    intervention_id: number
    quantiles: string
    finishes: number
    forecaster: string
    forecaster_version: string
    record_ids: string
    campaign_id: number | null
    round: number | null
    made_at: string
    explanation: string | null
    model: string | null
  }
  failed_forecasts: {
    id: Generated<number>
    intervention_id: number
    reason: string
    forecaster: string
    forecaster_version: string
    record_ids: string
    model: string | null
    campaign_id: number | null
    round: number | null
    made_at: string
  }
  verdicts: {
    id: Generated<number>
    intervention_id: number
    verdict: Verdict
    measured: string | null
    run_ids: string
    supersedes: number | null
    given_at: string
  }
  campaigns: { id: Generated<number>; family_id: string; version_id: string; definition: string; created_at: string }
  campaign_events: {
    id: Generated<number>
    campaign_id: number
    state: CampaignState
    detail: string | null
    claimant_pid: number | null
    claimant_started: string | null
    happened_at: string
  }
  rounds: { campaign_id: number; round: number; stored_at: string }
  choices: {
    campaign_id: number
    round: number
    position: number
    intervention_id: number
    forecast_id: number | null
    probability: number
    choice: Choice
    gated: string | null
  }
  dropped_candidates: { id: Generated<number>; campaign_id: number; round: number; intervention: string; why: string }
  imports: {
    source_key: string
    version_id: string | null
    intervention_id: number | null
    run_id: number | null
    /** Where the place is a line; otherwise `place` has it. */
    line: number | null
    place: string | null
    text: string | null
    reason: string | null
    imported_at: string
    reading_id: number | null
    meaning: string | null
  }
  readings: {
    id: Generated<number>
    family_id: string
    place: string
    source: string
    definition: string
    read_at: string
    withdrawn_at: string | null
  }
  withdrawn_runs: { run_id: number }
}

/** The handle every function of this folder takes: the open ledger, or a transaction on it. */
export type Database = Kysely<Tables>
