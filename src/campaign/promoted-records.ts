/** Which records became a reference: what was promoted here, and what was kept in a log. */
import type { Version } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { Ledger } from '../ledger/ledger.ts'

/** Ids of those that versions were made from: versions on which one of the records was tried, and the current one with its ancestors. */
export async function promotedRecords(
  records: readonly ExperimentRecord[],
  current: Version,
  ledger: Ledger,
): Promise<Set<number>> {
  const versions = [...records.map(({ environment }) => environment.version), ...(await ledger.lineage(current.id))]
  return new Set(versions.flatMap(({ parent }) => parent?.interventionId ?? []))
}
