/** Which records became a reference: what was promoted here, and what was kept in a log. */
import type { Version } from '../experiment/environment.ts'
import { referenceHash } from '../experiment/identity.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { Ledger } from '../ledger/ledger.ts'

/** Ids of those that versions were made from: versions on which one of the records was tried, and the current one with its ancestors. */
export async function promotedRecords(
  records: readonly ExperimentRecord[],
  current: Version,
  ledger: Ledger,
): Promise<Set<number>> {
  const tried = records.map(({ environment }) => environment.version)
  const versions = new Map([...tried, ...(await ledger.lineage(current.id))].map(version => [version.id, version]))
  const made = [...versions.values()].flatMap(({ parent }) => parent?.interventionId ?? [])
  return new Set([...made, ...(await madeBefore([...versions.values()], current.familyId, ledger))])
}

/**
 * A version may be older than the record that says how it came to be: a folder's HEAD is known before its log is imported, and versions
 * are never changed. That record is the one that came to just its content, on a version that does not descend from it.
 */
async function madeBefore(versions: readonly Version[], familyId: string, ledger: Ledger): Promise<number[]> {
  const roots = new Map(
    versions.flatMap(version => (version.parent === null ? [[referenceHash(version.reference), version.id]] : [])),
  )
  const alike = await ledger.candidatesWithHash(familyId, [...roots.keys()])
  const found: number[] = []
  for (const { id, versionId, hash } of alike) {
    const before = await ledger.lineage(versionId)
    if (!before.some(version => version.id === roots.get(hash))) found.push(id)
  }
  return found
}
