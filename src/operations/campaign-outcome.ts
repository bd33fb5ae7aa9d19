/** What a campaign came to, for the operations that start, resume or show one. */
import { spentOn } from '../campaign/budget.ts'
import { type CampaignState, campaignState } from '../campaign/campaign-state.ts'
import { bestOf } from '../campaign/conclude.ts'
import { droppedOf } from '../campaign/dropped.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { countText, durationText, gainText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import type { CampaignRound } from '../report/report-data.ts'
import { renderResultTable } from '../report/result-table.ts'
import type { TextOptions } from './operation.ts'
import { summarise } from './record-summary.ts'

export interface CampaignOutcome {
  readonly campaign: number
  readonly state: CampaignState
  readonly why: string | null
  readonly rounds: readonly CampaignRound[]
  readonly runs: number
  readonly seconds: number
  /** Of the chosen candidates, in order of choice. */
  readonly records: readonly ExperimentRecord[]
  readonly forecasts: ReadonlyMap<number, Forecast>
}

export async function campaignOutcome(id: number, ledger: Ledger): Promise<CampaignOutcome> {
  const campaign = (await ledger.campaign(id))!
  const rounds = await ledger.roundsOf(id)
  const runs = await ledger.runsOfCampaign(id)
  const byId = new Map(
    (await ledger.recordsOf({ versionIds: [campaign.versionId], withoutRuns: true })).map(record => [
      record.id,
      record,
    ]),
  )
  const chosen = rounds.flatMap(({ candidates }) => candidates.filter(({ choice }) => choice !== 'passed-over'))
  return {
    campaign: id,
    state: campaignState(campaign),
    why: campaign.last.detail,
    rounds: rounds.map(roundHistory),
    runs: runs.length,
    seconds: spentOn(runs, undefined).hours * 3600,
    records: chosen.flatMap(({ interventionId }) => byId.get(interventionId) ?? []),
    forecasts: new Map(
      chosen.flatMap(({ interventionId, forecast }) => (forecast ? [[interventionId, forecast]] : [])),
    ),
  }
}

/** A stored round as reports and scripts see it. */
export function roundHistory({ round, candidates, dropped }: StoredRound): CampaignRound {
  return {
    round,
    considered: candidates.length + dropped.length,
    dropped: droppedOf({ candidates, dropped }),
    chosen: candidates
      .filter(({ choice }) => choice !== 'passed-over')
      .map(({ interventionId, choice, probability }) => ({
        recordId: interventionId,
        explored: choice === 'explored',
        probability,
      })),
  }
}

/** What `--json` prints of it. */
export function campaignJson({ records, forecasts, ...outcome }: CampaignOutcome) {
  return { ...outcome, records: records.map(record => summarise(record, forecasts.get(record.id))) }
}

export function campaignText(outcome: CampaignOutcome, options: TextOptions): string {
  const { campaign, state, why, records, forecasts, runs, seconds, rounds } = outcome
  const best = bestOf(records)
  const lines = [
    options.styling('heading', singleLine(`Campaign ${campaign}: ${state}${why ? `. ${why}` : ''}`)),
    `${countText(rounds.length, 'round')}, ${countText(runs, 'run')}, ${durationText(seconds)} of run time.`,
  ]
  if (best && best.measured!.gain <= 0) lines.push('None of its candidates has gained anything yet.')
  else if (best)
    lines.push(
      `Best gain so far: ${gainText(best.measured)} (${best.verdict}): ${singleLine(best.intervention.sentence)}`,
    )
  if (records.length > 0) lines.push('', renderResultTable(records, forecasts, options))
  if (state === 'stopped' || state === 'interrupted')
    lines.push('', `Go on with: almanac campaign resume ${campaign}${options.sameFlags ?? ''}`)
  return lines.join('\n')
}
