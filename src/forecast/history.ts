/**
 * Which records a forecast may use: the four conditions under which forecasters are compared.
 */
import type { Environment } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'

/** Of the target's family at any version, of other families only, or both. */
export const historyKinds = ['none', 'in-environment', 'cross-environment', 'pooled'] as const
export type HistoryKind = (typeof historyKinds)[number]

export function historyOf(
  kind: HistoryKind,
  environment: Environment,
  records: readonly ExperimentRecord[],
): ExperimentRecord[] {
  if (kind === 'none') return []
  if (kind === 'pooled') return [...records]
  const inside = kind === 'in-environment'
  return records.filter(record => (record.environment.familyId === environment.familyId) === inside)
}
