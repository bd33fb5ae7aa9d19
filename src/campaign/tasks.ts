/** The runs that are still to be paid for: of the reference, and of interventions. */

import { mergePatch } from '../experiment/configuration.ts'
import type { Version } from '../experiment/environment.ts'
import { referenceHash } from '../experiment/identity.ts'
import { byOrigin, evidenceOf } from '../experiment/records.ts'
import type { StoredIntervention } from '../ledger/interventions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Task } from './measure.ts'

/**
 * Runs that the reference lacks, to have been measured as often as there are seeds. A promoted reference takes seeds that its
 * record did not use, and what a log says of it does not count: what was kept for being lucky is measured anew.
 */
export async function referenceTasks(version: Version, seeds: readonly number[], ledger: Ledger): Promise<Task[]> {
  const interventionId = await ledger.ensureReference(version.id)
  const measured = byOrigin(evidenceOf(await ledger.runsOf(interventionId))).own
  // A reference of which no run finished is no use: what was wrong with the program may be mended by now.
  const counted = measured.some(({ outcome }) => outcome!.kind === 'finished') ? measured.length : 0
  const lucky = version.parent ? (await ledger.runsOf(version.parent.interventionId)).map(({ seed }) => seed) : []
  const taken = new Set([...lucky, ...measured.map(({ seed }) => seed)])
  const free: number[] = seeds.filter(seed => !taken.has(seed))
  for (let seed = Math.max(...seeds) + 1; free.length < seeds.length; seed++) if (!taken.has(seed)) free.push(seed)
  return free.slice(0, Math.max(0, seeds.length - counted)).map(seed => ({
    versionId: version.id,
    interventionId,
    what: 'reference',
    hash: referenceHash(version.reference),
    configuration: version.reference.configuration,
    commit: version.reference.commit,
    diff: null,
    seed,
    round: null,
  }))
}

export function interventionTasks(
  version: Version,
  { id, hash, intervention }: Pick<StoredIntervention, 'id' | 'hash' | 'intervention'>,
  seeds: readonly number[],
  round: number | null,
): Task[] {
  const { configuration, commit } = version.reference
  return seeds.map(seed => ({
    versionId: version.id,
    interventionId: id,
    what: intervention.sentence,
    hash,
    configuration: intervention.overrides === null ? configuration : mergePatch(configuration, intervention.overrides),
    commit,
    diff: intervention.diff,
    seed,
    round,
  }))
}
