/** The records that a forecast may use. */
import type { Environment } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { HistoryKind } from '../forecast/history-kind.ts'
import type { Ledger } from '../ledger/ledger.ts'

export { type HistoryKind, historyKinds } from '../forecast/history-kind.ts'

/** Records with an outcome, in order of creation: of the same family at any version, of other families, of both, or none. */
export async function historyOf(
  kind: HistoryKind,
  { familyId }: Environment,
  ledger: Ledger,
): Promise<ExperimentRecord[]> {
  if (kind === 'none') return []
  const records = await ledger.recordsOf(kind === 'in-environment' ? { familyIds: [familyId] } : {})
  return records.filter(record => {
    if (record.outcome === null) return false
    return kind !== 'cross-environment' || record.environment.familyId !== familyId
  })
}
