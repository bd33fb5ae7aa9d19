/**
 * The runs of a round: what was chosen, with its seeds; then, with fresh seeds, what would be called better and may be luck
 * (`confirmation.ts`). A record is told, and its verdict stored, once it needs no more of them.
 */
import type { Version } from '../experiment/environment.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { bestOf, conclude, referenceValues } from './conclude.ts'
import { awaitingConfirmation, type Confirmation } from './confirmation.ts'
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
  const asked = new Set<number>()
  for (;;) {
    // With more runs the noise is known better, and others may now be called better: these too, each once.
    const again = [...(await dueInRound(runs))].filter(id => !asked.has(id))
    if (again.length === 0) return
    for (const id of again) asked.add(id)
    await payFor(
      again.map(id => runs.ofCampaign.get(id)!),
      freshSeeds(seeds, confirm),
      runs,
    )
  }
}

/** What luck chose is not asked of the same seeds. */
export function freshSeeds(seeds: readonly number[], more: number): readonly number[] {
  return firstSeeds(seeds.length + more, seeds).slice(seeds.length)
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
  const again = (await dueInRound(runs)).has(id)
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
    best: best && best.measured!.gain > 0 ? { measured: best.measured!, sentence: best.intervention.sentence } : null,
  })
}

function dueInRound({ version, definition, ledger, ofCampaign }: RoundRuns): Promise<ReadonlySet<number>> {
  const { seeds, confirm } = definition
  return dueAgain(version.id, { seeds: seeds.length, more: confirm, among: new Set(ofCampaign.keys()) }, ledger)
}

/** The records of the version that are to be run again before they are called better, by id. */
export async function dueAgain(
  versionId: string,
  rule: Omit<Confirmation, 'reference'>,
  ledger: Ledger,
): Promise<ReadonlySet<number>> {
  const records = await ledger.recordsOf({ versionIds: [versionId] })
  return awaitingConfirmation(records, { ...rule, reference: await referenceValues(versionId, ledger) })
}
