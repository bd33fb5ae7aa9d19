/**
 * Forecasts of one pool beside what was measured. Consecutive rows of a log may be against different references, as a row between them
 * was kept: each is asked against its own.
 */
import type { Environment } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { Forecaster } from './forecaster.ts'
import { type Judged, judge } from './judge.ts'

/** Records with the environment at the version each was tried on. */
export function byReference(
  tested: readonly ExperimentRecord[],
): { readonly environment: Environment; readonly tested: ExperimentRecord[] }[] {
  const groups = Map.groupBy(tested, ({ environment }) => environment.version.id)
  return [...groups.values()].map(same => ({ environment: same[0]!.environment, tested: same }))
}

/** In the order of the tested records. Throws where a forecast was conditioned on what is not in the history. */
export async function judgePool(
  forecaster: Forecaster,
  tested: readonly ExperimentRecord[],
  history: readonly ExperimentRecord[],
  seed: number,
): Promise<Judged[]> {
  const judged = new Map<ExperimentRecord, Judged>()
  for (const { environment, tested: same } of byReference(tested)) {
    for (const one of await judge(forecaster, { environment, history, tested: same, guarded: false }, seed)) {
      judged.set(one.record, one)
    }
  }
  return tested.map(record => judged.get(record)!)
}
