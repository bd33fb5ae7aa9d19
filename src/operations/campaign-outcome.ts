/** What a campaign came to, for the operations that start, resume or show one. */
import { spentOn } from '../campaign/budget.ts'
import { type CampaignState, campaignState } from '../campaign/campaign-state.ts'
import { bestOf } from '../campaign/conclude.ts'
import { droppedOf } from '../campaign/dropped.ts'
import { type EventHonesty, type LiveCalibration, liveCalibration } from '../campaign/live-calibration.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { countText, durationText, gainText, percentText } from '../report/numbers.ts'
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
  /** Null until all that was chosen in a round has been measured. */
  readonly calibration: LiveCalibration | null
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
    calibration: liveCalibration(rounds, byId),
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
  const { campaign, state, why, records, forecasts, runs, seconds, rounds, calibration } = outcome
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
  if (calibration !== null && calibration.measured >= fewestJudged) lines.push('', calibrationText(calibration))
  if (state === 'stopped' || state === 'interrupted')
    lines.push('', `Go on with: almanac campaign resume ${campaign}${options.sameFlags ?? ''}`)
  return lines.join('\n')
}

/** With fewer measured candidates, what forecasts said and what came cannot be told apart. */
const fewestJudged = 5

/** What is said is over all candidates; what came, over those that ran, each weighed by the inverse of its chance. */
function calibrationText({ candidates, unreachable, measured, partial, finishing, gaining }: LiveCalibration): string {
  const share = ({ weighted: { said, happened } }: EventHonesty) =>
    `${percentText(said)} foreseen, ${percentText(Math.min(1, happened))} came`
  const rest = unreachable === 0 ? '' : `; ${unreachable} more had no chance to run`
  const without = partial === 0 ? '' : `; without ${countText(partial, 'round')} whose choices are not all measured`
  return `Forecasts of ${countText(candidates, 'candidate')}: to finish ${share(finishing)}; to gain ${share(gaining)} (by ${measured} that ran, weighed by their chances${rest}${without}).`
}
