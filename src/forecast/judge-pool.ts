/**
 * Forecasts of one pool beside what was measured. Consecutive rows of a log may be against different references, as a row between them
 * was kept: each is asked against its own.
 */
import type { ExperimentRecord } from '../experiment/record.ts'
import type { Forecaster } from './forecaster.ts'
import { type Judged, judge } from './judge.ts'

/** In the order of the tested records. Throws where a forecast was conditioned on what is not in the history. */
export async function judgePool(
  forecaster: Forecaster,
  tested: readonly ExperimentRecord[],
  history: readonly ExperimentRecord[],
  seed: number,
): Promise<Judged[]> {
  const judged = new Map<ExperimentRecord, Judged>()
  for (const [, same] of Map.groupBy(tested, ({ environment }) => environment.version.id)) {
    const { environment } = same[0]!
    for (const one of await judge(forecaster, { environment, history, tested: same, guarded: false }, seed)) {
      judged.set(one.record, one)
    }
  }
  return tested.map(record => judged.get(record)!)
}
