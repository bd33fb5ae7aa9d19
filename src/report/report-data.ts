/**
 * All that a report is made from: plain data, gathered by whoever has the ledger. Nothing here is computed from anything
 * else here; figures that follow from it (best gain, rank correlation, time by outcome) are computed where they are drawn.
 */
import type { Environment, Version } from '../experiment/environment.ts'
import type { OutcomeKind } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast, MeasuredGain } from '../experiment/record.ts'

/** One version of the family, and what was promoted to make it. */
export interface LineageStep {
  readonly version: Version
  /** The record that became this version's reference, with its gain over the version before; null for the first. */
  readonly promoted: { readonly sentence: string; readonly gain: MeasuredGain | null } | null
  /** Median of the objective over the reference's finished runs, in the metric's own unit; null where it was never measured. */
  readonly objective: number | null
  /** Finished runs of the reference. */
  readonly referenceRuns: number
}

export interface DroppedCandidate {
  readonly sentence: string
  readonly reason: string
}

export interface ChosenCandidate {
  readonly recordId: number
  /** True when it was drawn by the exploration share and not for its forecast. */
  readonly explored: boolean
  /** The stored probability of its being chosen; null where none was stored. */
  readonly probability: number | null
}

export interface CampaignRound {
  readonly round: number
  /** Candidates before any was dropped. */
  readonly considered: number
  /** In an earlier round or campaign: they need not run again, and are not dropped. */
  readonly ranBefore: number
  readonly dropped: readonly DroppedCandidate[]
  readonly chosen: readonly ChosenCandidate[]
}

export interface CampaignHistory {
  readonly id: number
  readonly rounds: readonly CampaignRound[]
}

/** When one run ran. Times are ISO 8601, null where an import did not know; `slot` counts from 0. */
export interface RunTime {
  readonly runId: number
  /** Null for a run of the reference. */
  readonly recordId: number | null
  /** Null while it is running. */
  readonly outcome: OutcomeKind | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly seconds: number | null
  readonly slot: number | null
}

export interface ReportData {
  readonly title: string
  /** ISO 8601, UTC. The report never asks the clock. */
  readonly generatedAt: string
  /** The environment at its current version. */
  readonly environment: Environment
  /** Oldest first; the last is the current version. */
  readonly lineage: readonly LineageStep[]
  /** Records of this family (not its references), in order of measuring, at any version. */
  readonly records: readonly ExperimentRecord[]
  /** By record id: the forecast that was stored before the record's first run. */
  readonly forecasts: ReadonlyMap<number, Forecast>
  readonly campaigns: readonly CampaignHistory[]
  readonly runs: readonly RunTime[]
  /** Almanac's own time beside the runs, in seconds, where it was measured. */
  readonly overheadSeconds?: number
}
