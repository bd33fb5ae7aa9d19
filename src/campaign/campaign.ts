/**
 * The loop: candidates, forecasts, the chosen few, runs, records, and again, under a budget. Everything it knows is in
 * the ledger, so that it goes on after anything from where it was.
 */

import { isAlive } from '../execute/process-table.ts'
import type { Environment } from '../experiment/environment.ts'
import type { StoredCampaign } from '../ledger/campaigns.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { exhausted, spentOn } from './budget.ts'
import { bestOf, conclude, referenceValues } from './conclude.ts'
import { type CampaignDefinition, definitionSchema } from './definition.ts'
import type { CandidateSource } from './environment-file.ts'
import type { CampaignEvent } from './events.ts'
import { measure, type Task } from './measure.ts'
import type { OpenEnvironment } from './open-environment.ts'
import { planRound } from './plan-round.ts'
import { settleLeftovers } from './settle.ts'
import { claimantOfThisProcess } from './start-run.ts'
import { interventionTasks, referenceTasks } from './tasks.ts'

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

/** Goes on with a campaign that was stopped or whose process is gone. Throws a sentence when it is running or finished. */
export async function resumeCampaign(campaign: StoredCampaign, surroundings: Surroundings): Promise<void> {
  const { ledger, opened } = surroundings
  const { state, claimant, id: after, detail } = campaign.last
  if (state === 'finished')
    throw new Error(`Campaign ${campaign.id} is finished: ${detail ?? 'all its rounds are done.'}`)
  const holder = claimant && { pid: claimant.pid, startTime: claimant.started }
  if (state !== 'stopped' && holder && isAlive(holder)) {
    throw new Error(`Campaign ${campaign.id} is being run by process ${holder.pid}; wait for it or stop it first.`)
  }
  const version = await ledger.version(campaign.versionId)
  const taken = await ledger.takeCampaign(campaign.id, claimantOfThisProcess(), after)
  if (!taken || !version) throw new Error(`Campaign ${campaign.id} was just taken over by another process.`)
  const { definition, source } = campaign.definition as unknown as StoredDefinition
  const environment = { family: opened.family, familyId: campaign.familyId, version }
  await advance(campaign, environment, { definition: definitionSchema.parse(definition), source }, surroundings)
}

async function advance(
  campaign: StoredCampaign,
  environment: Environment,
  stored: StoredDefinition,
  surroundings: Surroundings,
): Promise<void> {
  const { ledger } = surroundings
  try {
    const ended = await playRounds(campaign, environment, stored, surroundings)
    await ledger.endCampaign(campaign.id, ended.state, ended.why)
  } catch (error) {
    await ledger.endCampaign(campaign.id, 'stopped', (error as Error).message)
    throw error
  }
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
  await settleLeftovers(ledger)

  const budget = {
    runs: definition.runs ?? undefined,
    hours: definition.hours ?? undefined,
    cost: definition.cost ?? undefined,
  }
  const spent = async () =>
    exhausted(budget, spentOn(await ledger.runsOfCampaign(campaign.id), opened.file.costPerHour))
  const pay = async (tasks: readonly Task[], onEnded?: (task: Task) => Promise<void>) => {
    await measure(tasks, {
      ...surroundings,
      environment: opened,
      campaignId: campaign.id,
      concurrency: definition.concurrency,
      mayStart: async () => (await spent()) === null,
      ...(onEnded ? { onEnded } : {}),
    })
    return stopped(stop) ?? (await budgetEnd(spent))
  }

  const reference = await referenceTasks(version, definition.referenceSeeds, ledger)
  emit({ type: 'runs-planned', runs: reference.length, round: null, rounds: definition.rounds })
  const early = await pay(reference)
  if ((await referenceValues(version.id, ledger)).length === 0) {
    if (early) return early
    throw new Error(await whyReferenceFailed(version.id, ledger))
  }
  if (early) return early

  for (let round = 1; round <= definition.rounds; round++) {
    const before = (await ledger.roundsOf(campaign.id)).find(each => each.round === round)
    const planning = { ...surroundings, environment, campaignId: campaign.id, definition, source, round }
    const planned = before ?? (await planRound(planning))
    emit(roundChosen(planned, definition.rounds))
    const chosen = planned.candidates.filter(({ choice }) => choice !== 'passed-over')
    if (chosen.length === 0) {
      return {
        state: 'finished',
        why: `No candidate was left in round ${round}: ${planned.dropped.length} were dropped.`,
      }
    }
    const tasks = chosen.flatMap(each =>
      interventionTasks(version, { ...each, id: each.interventionId }, definition.seeds, round),
    )
    emit({ type: 'runs-planned', runs: tasks.length, round, rounds: definition.rounds })
    const left = new Map(chosen.map(({ interventionId }) => [interventionId, definition.seeds.length]))
    const end = await pay(tasks, async ({ interventionId }) => {
      left.set(interventionId, left.get(interventionId)! - 1)
      if (left.get(interventionId) === 0) await tellRecord(version.id, interventionId, ledger, emit)
    })
    await conclude(version.id, ledger)
    if (end) return end
  }
  return { state: 'finished', why: `All ${definition.rounds} rounds are done.` }
}

function stopped(stop: AbortSignal): Ended | null {
  return stop.aborted ? { state: 'stopped', why: 'It was stopped by the user.' } : null
}

async function budgetEnd(spent: () => Promise<string | null>): Promise<Ended | null> {
  const why = await spent()
  return why === null ? null : { state: 'finished', why }
}

function roundChosen({ round, candidates, dropped }: StoredRound, rounds: number): CampaignEvent {
  return {
    type: 'round-chosen',
    round,
    rounds,
    considered: candidates.length + dropped.length,
    dropped: dropped.map(({ intervention, why }) => ({ sentence: intervention.sentence, reason: why })),
    chosen: candidates
      .filter(({ choice }) => choice !== 'passed-over')
      .map(({ intervention, forecast, choice }) => ({
        sentence: intervention.sentence,
        quantiles: forecast!.quantiles,
        explored: choice === 'explored',
      })),
  }
}

async function tellRecord(versionId: string, id: number, ledger: Ledger, emit: Surroundings['emit']): Promise<void> {
  const records = await conclude(versionId, ledger, new Set([id]))
  const record = records.find(each => each.id === id)
  if (!record) return
  const best = bestOf(records)
  emit({
    type: 'record-measured',
    sentence: record.intervention.sentence,
    measured: record.measured,
    verdict: record.verdict,
    best: best && { measured: best.measured!, sentence: best.intervention.sentence },
  })
}

export async function whyReferenceFailed(versionId: string, ledger: Ledger): Promise<string> {
  const runs = await ledger.runsOf(await ledger.ensureReference(versionId))
  const last = runs.findLast(({ outcome }) => outcome !== null && outcome.kind !== 'finished')
  const reason = last ? `${last.outcome!.kind}: ${last.outcome!.reason ?? 'no reason given'}` : 'it was not run'
  const logs = last?.folder ? ` Its output is in ${last.folder}.` : ''
  return `The reference did not finish (${reason}), so nothing can be compared with it; correct the command or the reference.${logs}`
}
