/** What a campaign came to, for the operations that start, resume or show one. */
import { spentOn } from '../campaign/budget.ts'
import { type CampaignState, campaignState } from '../campaign/campaign-state.ts'
import { bestOf, referenceValues } from '../campaign/conclude.ts'
import { awaitingConfirmation } from '../campaign/confirmation.ts'
import { storedDefinition } from '../campaign/definition.ts'
import { byWorth, type Dropped, droppedOf, type Foreseen, ranBefore } from '../campaign/dropped.ts'
import { languageSpent } from '../campaign/language-spent.ts'
import { type EventHonesty, type LiveCalibration, liveCalibration } from '../campaign/live-calibration.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { costOf, type Usage } from '../language/usage.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { gainLegend } from '../report/gain-legend.ts'
import { countText, durationText, gainText, percentText } from '../report/numbers.ts'
import { bounded, singleLine } from '../report/outside-text.ts'
import type { CampaignRound } from '../report/report-data.ts'
import { renderResultTable } from '../report/result-table.ts'
import { leftOutLines } from '../report/round-text.ts'
import type { TextOptions } from './operation.ts'
import { summarise } from './record-summary.ts'

/** A round as scripts see it: also what passed the gate and was not chosen, the best first, beside the worth of the last that was. */
interface RoundOutcome extends CampaignRound {
  readonly dropped: readonly Dropped[]
  readonly notChosen: readonly Foreseen[]
  readonly leastWorth: number | null
}

export interface CampaignOutcome {
  readonly campaign: number
  readonly state: CampaignState
  readonly why: string | null
  readonly rounds: readonly RoundOutcome[]
  readonly runs: number
  /** Of these, the reference's, and those of what was run again before it is called better. */
  readonly referenceRuns: number
  readonly confirmingRuns: number
  readonly seconds: number
  /** What forecasts took of a language model, and its cost where a price is known; null where none was asked. */
  readonly language: { readonly usage: Usage; readonly cost: number | null; readonly currency: string | null } | null
  /** Of the chosen candidates, in order of choice. */
  readonly records: readonly ExperimentRecord[]
  readonly forecasts: ReadonlyMap<number, Forecast>
  /** Ids of records that are called better and were still to be run again, as the budget or the user ended it. */
  readonly unconfirmed: readonly number[]
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
  const { seeds, confirm, language } = storedDefinition(campaign.definition)
  const usage = await languageSpent(id, ledger)
  const among = new Set(chosen.map(({ interventionId }) => interventionId))
  const reference = await referenceValues(campaign.versionId, ledger)
  const due = awaitingConfirmation([...byId.values()], { seeds: seeds.length, more: confirm, among, reference })
  const state = campaignState(campaign)
  return {
    campaign: id,
    state,
    why: campaign.last.detail,
    rounds: rounds.map(round => {
      const { chosen, notChosen } = byWorth(round)
      return { ...roundHistory(round), dropped: droppedOf(round), notChosen, leastWorth: chosen.at(-1)?.worth ?? null }
    }),
    runs: runs.length,
    referenceRuns: runs.filter(({ interventionId }) => !among.has(interventionId)).length,
    confirmingRuns: runs.filter(({ interventionId, seed }) => among.has(interventionId) && !seeds.includes(seed))
      .length,
    seconds: spentOn(runs, undefined).hours * 3600,
    language:
      language === null || usage.requests === 0
        ? null
        : { usage, cost: costOf(usage, language.price ?? null), currency: language.price?.currency ?? null },
    records: chosen.flatMap(({ interventionId }) => byId.get(interventionId) ?? []),
    forecasts: new Map(
      chosen.flatMap(({ interventionId, forecast }) => (forecast ? [[interventionId, forecast]] : [])),
    ),
    unconfirmed: state === 'running' ? [] : [...due].filter(id => byId.get(id)?.verdict === 'better'),
    calibration: liveCalibration(rounds, byId),
  }
}

/** A stored round as reports see it. */
export function roundHistory({ round, candidates, dropped }: StoredRound): CampaignRound {
  return {
    round,
    considered: candidates.length + dropped.length,
    ranBefore: ranBefore({ dropped }),
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
  const { campaign, state, why, records, forecasts, seconds, rounds, calibration } = outcome
  const best = bestOf(records)
  const lines = [
    options.styling('heading', singleLine(`Campaign ${campaign}: ${state}${why ? `. ${why}` : ''}`)),
    `${countText(rounds.length, 'round')}, ${runsText(outcome)}, ${durationText(seconds)} of run time.`,
  ]
  if (outcome.language !== null) lines.push(languageText(outcome.language))
  if (best && best.measured!.gain <= 0) lines.push('None of its candidates has gained anything yet.')
  else if (best)
    lines.push(
      `Best gain so far: ${gainText(best.measured)} (${best.verdict}): ${bounded(singleLine(best.intervention.sentence), 90)}`,
    )
  if (records.length > 0) {
    const legend = gainLegend(records.map(({ environment }) => environment))
    lines.push('', renderResultTable(records, forecasts, options), legend)
  }
  const last = rounds.at(-1)
  const leftOut = last === undefined ? [] : leftOutLines(last, options.width)
  if (leftOut.length > 0) lines.push('', `Round ${last!.round} did not run:`, ...leftOut)
  if (outcome.unconfirmed.length > 0 && state === 'finished') lines.push('', unconfirmedText(outcome.unconfirmed))
  if (calibration !== null) lines.push('', calibrationText(calibration))
  if (state === 'stopped' || state === 'interrupted')
    lines.push('', `Go on with: almanac campaign resume ${campaign}${options.sameFlags ?? ''}`)
  if (state === 'finished') lines.push('', ...nextSteps(outcome, options.sameFlags ?? ''))
  return lines.join('\n')
}

function languageText({ usage, cost, currency }: NonNullable<CampaignOutcome['language']>): string {
  const tokens = `${Math.round(usage.input).toLocaleString('en')} tokens in, ${Math.round(usage.output).toLocaleString('en')} out`
  const money = cost === null ? 'its price is not known' : `${cost.toPrecision(3)} ${currency ?? 'in money'}`
  return `The language model took ${countText(Math.round(usage.requests), 'request')}, ${tokens}: ${money}.`
}

function nextSteps({ records, unconfirmed }: CampaignOutcome, sameFlags: string): string[] {
  const better = bestOf(records.filter(({ id, verdict }) => verdict === 'better' && !unconfirmed.includes(id)))
  return [
    ...(better ? [`Make the best the reference with: almanac promote ${better.id}${sameFlags}`] : []),
    `See all of it with: almanac report${sameFlags}`,
  ]
}

/** Where a budget of runs went. */
function runsText({ runs, referenceRuns, confirmingRuns }: CampaignOutcome): string {
  const parts = [
    ...(referenceRuns > 0 ? [`${referenceRuns} of the reference`] : []),
    ...(confirmingRuns > 0 ? [`${confirmingRuns} to confirm`] : []),
  ]
  return `${countText(runs, 'run')}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
}

function unconfirmedText(ids: readonly number[]): string {
  const named = `${ids.length === 1 ? 'record' : 'records'} ${ids.join(', ')}`
  return `Called better, but not run again as it should be, for the campaign ended first: ${named}. It may be luck: repeat with "almanac run" and more --seeds.`
}

/** With chances worth fewer equal ones, what forecasts said and what came cannot be told apart. */
const fewestJudged = 10

/** What is said and what came, weighed by the inverse of each chance, so that it is of all candidates and not of those that were chosen. */
function calibrationText({
  candidates,
  unreachable,
  measured,
  effective,
  partial,
  finishing,
  gaining,
}: LiveCalibration): string {
  if (effective < fewestJudged) {
    const ran = `${measured === 1 ? 'candidate that ran is' : `${measured} candidates that ran are`} worth ${effective.toPrecision(2)} of equal chances`
    return `How honest its forecasts were cannot be told yet: the ${ran}, and it takes ${fewestJudged}.`
  }
  const share = ({ normalised: { said, happened, interval } }: EventHonesty) =>
    `${percentText(said)} foreseen, ${percentText(happened)} [${interval.map(percentText).join(', ')}] came`
  const rest = unreachable === 0 ? '' : `; ${unreachable} more had no chance to run`
  const without = partial === 0 ? '' : `; without ${countText(partial, 'round')} whose choices are not all measured`
  return `${countText(candidates, 'forecast')}, one a candidate and round: to finish ${share(finishing)}; to gain ${share(gaining)} (by ${measured} that ran, weighed by their chances${rest}${without}).`
}
