/** Writes down what follows from the runs: a verdict a record. A new one supersedes the old; nothing is edited. */

import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { byOrigin, evidenceOf, finishedValues } from '../experiment/records.ts'
import type { Ledger } from '../ledger/ledger.ts'

/** Stores the verdicts that changed, of all records of the version or of some, and gives the records as they are now. */
export async function conclude(
  versionId: string,
  ledger: Ledger,
  only?: ReadonlySet<number>,
): Promise<ExperimentRecord[]> {
  const records = await ledger.recordsOf({ versionIds: [versionId] })
  const reference = await ledger.runsOf(await ledger.ensureReference(versionId))
  const referenceIds = reference.flatMap(({ id, outcome }) => (outcome?.kind === 'finished' ? [id] : []))
  for (const record of records) {
    if (record.verdict === null || (only && !only.has(record.id))) continue
    const runIds = record.runs.flatMap(({ id, outcome }) => (outcome === null ? [] : [id]))
    const { verdict, measured } = record
    await ledger.storeVerdict(record.id, { verdict, measured, runIds: [...runIds, ...referenceIds] })
  }
  return records
}

/** The record with the largest measured gain; null when none has one. */
export function bestOf(records: readonly ExperimentRecord[]): ExperimentRecord | null {
  return records.reduce<ExperimentRecord | null>((best, record) => {
    if (record.measured === null) return best
    return best === null || record.measured.gain > best.measured!.gain ? record : best
  }, null)
}

/** The objective over the reference's finished runs of our own: what a log says of it may be of another machine. */
export async function referenceValues(versionId: string, ledger: Ledger): Promise<number[]> {
  const version = await ledger.version(versionId)
  const family = version && (await ledger.family(version.familyId))
  if (!family) throw new Error(`The ledger has no version ${versionId}.`)
  const runs = await ledger.runsOf(await ledger.ensureReference(versionId))
  return finishedValues(byOrigin(evidenceOf(runs)).own, objectiveOf(family).name)
}
