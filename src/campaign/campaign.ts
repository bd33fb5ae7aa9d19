/**
 * The loop: candidates, forecasts, the chosen few, runs, records, and again, under a budget. Everything it knows is in
 * the ledger, so that it goes on after anything from where it was.
 */

import { type Environment, familyId } from '../experiment/environment.ts'
import { costOf } from '../language/usage.ts'
import type { StoredCampaign } from '../ledger/campaigns.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { tally } from '../text/tally.ts'
import { exhausted, spentOn } from './budget.ts'
import { campaignState } from './campaign-state.ts'
import { conclude, referenceValues } from './conclude.ts'
import { type CampaignDefinition, storedDefinition } from './definition.ts'
import { byWorth, droppedOf, ranBefore } from './dropped.ts'
import type { CandidateSource } from './environment-file.ts'
import type { CampaignEvent } from './events.ts'
import { InputError } from './input-error.ts'
import { languageSpent } from './language-spent.ts'
import { settleLeftovers } from './leftovers.ts'
import { measure, type Task } from './measure.ts'
import type { OpenEnvironment } from './open-environment.ts'
import { planRound } from './plan-round.ts'
import { type ChosenCandidate, payForRound } from './round-runs.ts'
import { claimantOfThisProcess } from './start-run.ts'
import { referenceTasks } from './tasks.ts'

export interface Surroundings {
  readonly opened: OpenEnvironment
  readonly ledger: Ledger
  readonly stop: AbortSignal
  readonly cancel: AbortSignal
  readonly variables: NodeJS.ProcessEnv
  emit(event: CampaignEvent): void
}

/** What is stored of a campaign: its definition and where its candidates come from. */
interface StoredDefinition {
  readonly definition: CampaignDefinition
  readonly source: CandidateSource
}

/** Starts a campaign and runs it to its end, to the end of its budget, or until it is stopped. Gives its id. */
export async function startCampaign(
  environment: Environment,
  stored: StoredDefinition,
  surroundings: Surroundings,
): Promise<number> {
  const campaign = await surroundings.ledger.createCampaign({
    familyId: environment.familyId,
    versionId: environment.version.id,
    definition: { ...stored } as never,
    claimant: claimantOfThisProcess(),
  })
  await advance(campaign, environment, stored, surroundings)
  return campaign.id
}

/** Goes on with a campaign that was stopped or whose process is gone. Throws a sentence when it is running. */
export async function resumeCampaign(campaign: StoredCampaign, surroundings: Surroundings): Promise<void> {
  const { ledger, opened } = surroundings
  if (campaign.familyId !== familyId(opened.family)) {
    throw new InputError(
      `Campaign ${campaign.id} measures something else than ${opened.path} describes now (its name, command, metrics or constraints differ); go where it was started, or undo the change.`,
    )
  }
  const holder = campaign.last.claimant?.pid
  const isOurs = holder === process.pid && !running.has(nameOf(campaign, ledger))
  if (campaignState(campaign) === 'running' && !isOurs) {
    throw new Error(`Campaign ${campaign.id} is being run by process ${holder}; wait for it or stop it first.`)
  }
  const version = await ledger.version(campaign.versionId)
  const taken = await ledger.takeCampaign(campaign.id, claimantOfThisProcess(), campaign.last.id)
  if (!taken || !version) throw new Error(`Campaign ${campaign.id} was just taken over by another process.`)
  const { source } = campaign.definition as unknown as StoredDefinition
  const environment = { family: opened.family, familyId: campaign.familyId, version }
  await advance(campaign, environment, { definition: storedDefinition(campaign.definition), source }, surroundings)
}

async function advance(
  campaign: StoredCampaign,
  environment: Environment,
  stored: StoredDefinition,
  surroundings: Surroundings,
): Promise<void> {
  const { ledger } = surroundings
  const name = nameOf(campaign, ledger)
  running.add(name)
  try {
    const ended = await playRounds(campaign, environment, stored, surroundings)
    await ledger.endCampaign(campaign.id, ended.state, ended.why)
  } catch (error) {
    // A full disk fails this too: what went wrong first is what the user must hear.
    await ledger.endCampaign(campaign.id, 'stopped', (error as Error).message).catch(() => {})
    throw error
  } finally {
    running.delete(name)
  }
}

/** What this process runs now: where the end of a campaign could not be written, the ledger still names us as its holder. */
const running = new Set<string>()

function nameOf({ id }: StoredCampaign, { path }: Ledger): string {
  return `${path} ${id}`
}

interface Ended {
  readonly state: 'stopped' | 'finished'
  readonly why: string
}

async function playRounds(
  campaign: StoredCampaign,
  environment: Environment,
  { definition, source }: StoredDefinition,
  surroundings: Surroundings,
): Promise<Ended> {
  const { opened, ledger, stop, emit } = surroundings
  const { version } = environment
  await settleLeftovers(ledger, opened.repository)

  const budget = {
    runs: definition.runs ?? undefined,
    hours: definition.hours ?? undefined,
    cost: definition.cost ?? undefined,
  }
  const spent = async () => {
    const price = definition.language?.price ?? null
    const languageCost = costOf(await languageSpent(campaign.id, ledger), price) ?? 0
    return exhausted(budget, spentOn(await ledger.runsOfCampaign(campaign.id), opened.file.costPerHour, languageCost))
  }
  const pay = async (tasks: readonly Task[], onEnded?: (task: Task) => Promise<void>) => {
    await measure(tasks, {
      ...surroundings,
      environment: opened,
      campaignId: campaign.id,
      rounds: definition.rounds,
      concurrency: definition.concurrency,
      mayStart: async () => (await spent()) === null,
      ...(onEnded ? { onEnded } : {}),
    })
  }
  const ended = async () => stopped(stop) ?? (await budgetEnd(spent))

  const mine = new Map<number, ChosenCandidate>()
  for (let round = 1; round <= definition.rounds; round++) {
    // A round that was stored goes on in any case: what it has paid for is read, though nothing more may start.
    const stored = (await ledger.roundsOf(campaign.id)).find(each => each.round === round)
    const end = stored ? null : await ended()
    if (end) return end
    const planning = { ...surroundings, environment, campaignId: campaign.id, definition, source, round }
    const planned = stored ?? (await planRound(planning).catch(unless(stop)))
    if (planned === null) return stopped(stop)!
    if (!stored) emit(roundChosen(planned, definition.rounds))
    const chosen = planned.candidates.filter(({ choice }) => choice !== 'passed-over')
    if (planned.candidates.length === 0) return { state: 'finished', why: noCandidates(planned) }
    // The gate held back all of them: the next round may explore one, or have others.
    if (chosen.length === 0) continue

    // After the first plan: what is wrong with the candidates is found before the reference is paid for.
    await pay(await referenceTasks(version, definition.referenceSeeds, ledger))
    if ((await referenceValues(version.id, ledger)).length === 0) {
      const early = await ended()
      if (early) return early
      throw new Error(await whyReferenceFailed(version.id, ledger))
    }

    for (const candidate of chosen) mine.set(candidate.interventionId, candidate)
    await payForRound(chosen, { ...surroundings, version, definition, round, ofCampaign: mine, pay })
    await conclude(version.id, ledger)
  }
  const why =
    mine.size === 0 ? allHeldBack(await ledger.roundsOf(campaign.id)) : allDone(await ledger.roundsOf(campaign.id))
  return (await ended()) ?? { state: 'finished', why }
}

/** What fails because the user has stopped is no failure. */
function unless(stop: AbortSignal): (error: unknown) => null {
  return error => {
    if (stop.aborted) return null
    throw error
  }
}

function noCandidates(stored: StoredRound): string {
  const { round } = stored
  const dropped = droppedOf(stored).length
  const before = ranBefore(stored)
  if (dropped + before === 0) return `There was no candidate in round ${round}.`
  const left = [
    ...(before > 0 ? [`${before} ran before`] : []),
    ...(dropped > 0 ? [`${dropped} ${dropped === 1 ? 'was' : 'were'} dropped (${commonest([stored])})`] : []),
  ]
  return `No candidate was left in round ${round}: ${left.join(', ')}.`
}

function allDone(rounds: readonly StoredRound[]): string {
  const done = rounds.length === 1 ? 'Its round is done.' : `All ${rounds.length} rounds are done.`
  const empty = rounds.filter(({ candidates }) => candidates.every(({ choice }) => choice === 'passed-over')).length
  return empty === 0 ? done : `${done} In ${empty} of them the gate held back every candidate.`
}

function allHeldBack(rounds: readonly StoredRound[]): string {
  const all = rounds.length === 1 ? '' : ` of ${rounds.length} rounds`
  return `The gate held back every candidate${all} (${commonest(rounds)}); other candidates, more exploration, or another "gate" in the environment file would let some run.`
}

function commonest(rounds: readonly StoredRound[]): string {
  const reasons = tally(rounds.flatMap(droppedOf).map(({ reason }) => reason))
  return reasons
    .slice(0, 3)
    .map(({ reason, count }) => `${count}: ${reason}`)
    .join('; ')
}

function stopped(stop: AbortSignal): Ended | null {
  return stop.aborted ? { state: 'stopped', why: 'It was stopped by the user.' } : null
}

async function budgetEnd(spent: () => Promise<string | null>): Promise<Ended | null> {
  const why = await spent()
  return why === null ? null : { state: 'finished', why }
}

function roundChosen({ round, candidates, dropped }: StoredRound, rounds: number): CampaignEvent {
  const { chosen, notChosen } = byWorth({ candidates, dropped })
  return {
    type: 'round-chosen',
    round,
    rounds,
    considered: candidates.length + dropped.length,
    ranBefore: ranBefore({ dropped }),
    dropped: droppedOf({ candidates, dropped }),
    notChosen,
    leastWorth: chosen.at(-1)?.worth ?? null,
    chosen: candidates
      .filter(({ choice }) => choice !== 'passed-over')
      .map(({ intervention, forecast, choice, gated }) => ({
        sentence: intervention.sentence,
        quantiles: forecast!.quantiles,
        explored: choice === 'explored',
        gated,
      })),
  }
}

export async function whyReferenceFailed(versionId: string, ledger: Ledger): Promise<string> {
  const runs = await ledger.runsOf(await ledger.ensureReference(versionId))
  const last = runs.findLast(({ outcome }) => outcome !== null && outcome.kind !== 'finished')
  const reason = last ? `${last.outcome!.kind}: ${last.outcome!.reason ?? 'no reason given'}` : 'it was not run'
  const logs = last?.folder ? ` Its output is in ${last.folder}.` : ''
  return `The reference did not finish (${reason}), so nothing can be compared with it; correct the command or the reference.${logs}`
}
