/**
 * The runs of a round: what was chosen, with its seeds; then, with fresh seeds, what would be called better and may be luck
 * (`confirmation.ts`). A record is told, and its verdict stored, once it needs no more of them.
 */
import type { Version } from '../experiment/environment.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { bestOf, conclude, referenceValues } from './conclude.ts'
import { awaitingConfirmation } from './confirmation.ts'
import type { CampaignDefinition } from './definition.ts'
import { firstSeeds } from './environment-file.ts'
import type { CampaignEvent } from './events.ts'
import type { Task } from './measure.ts'
import { interventionTasks } from './tasks.ts'

export type ChosenCandidate = StoredRound['candidates'][number]

export interface RoundRuns {
  readonly version: Version
  readonly definition: CampaignDefinition
  readonly round: number
  readonly ledger: Ledger
  /** All that the campaign has chosen so far, by intervention. */
  readonly ofCampaign: ReadonlyMap<number, ChosenCandidate>
  emit(event: CampaignEvent): void
  /** Measures what the budget allows. */
  pay(tasks: readonly Task[], onEnded: (task: Task) => Promise<void>): Promise<void>
}

export async function payForRound(chosen: readonly ChosenCandidate[], runs: RoundRuns): Promise<void> {
  const { seeds, confirm } = runs.definition
  await payFor(chosen, seeds, runs)
  const due = await dueAgain(runs)
  // What luck chose is not asked of the same seeds.
  const fresh = firstSeeds(seeds.length + confirm, seeds).slice(seeds.length)
  const again = [...due].map(id => runs.ofCampaign.get(id)!)
  if (again.length > 0) await payFor(again, fresh, runs)
}

async function payFor(
  candidates: readonly ChosenCandidate[],
  seeds: readonly number[],
  runs: RoundRuns,
): Promise<void> {
  const left = new Map(candidates.map(({ interventionId }) => [interventionId, seeds.length]))
  const tasks = candidates.flatMap(each =>
    interventionTasks(runs.version, { ...each, id: each.interventionId }, seeds, runs.round),
  )
  await runs.pay(tasks, async ({ interventionId }) => {
    left.set(interventionId, left.get(interventionId)! - 1)
    if (left.get(interventionId) === 0) await tellRecord(interventionId, runs)
  })
}

async function tellRecord(id: number, runs: RoundRuns): Promise<void> {
  const { version, ledger, ofCampaign, emit } = runs
  const again = (await dueAgain(runs)).has(id)
  const records = again
    ? await ledger.recordsOf({ versionIds: [version.id] })
    : await conclude(version.id, ledger, new Set([id]))
  const record = records.find(each => each.id === id)
  if (!record) return
  const best = bestOf(records.filter(each => ofCampaign.has(each.id)))
  emit({
    type: 'record-measured',
    sentence: record.intervention.sentence,
    measured: record.measured,
    verdict: record.verdict,
    again,
    best: best && { measured: best.measured!, sentence: best.intervention.sentence },
  })
}

async function dueAgain({ version, definition, ledger, ofCampaign }: RoundRuns): Promise<Set<number>> {
  const records = await ledger.recordsOf({ versionIds: [version.id] })
  return awaitingConfirmation(
    records.filter(({ id }) => ofCampaign.has(id)),
    {
      seeds: definition.seeds.length,
      more: definition.confirm,
      referenceRuns: (await referenceValues(version.id, ledger)).length,
    },
  )
}
