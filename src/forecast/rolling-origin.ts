/**
 * Rolling origin: a log in time order, cut into pools of a few consecutive rows, each forecast from what was known before its
 * first row. Pools are small because gains shrink over a series: what is far apart in time is not comparable, and whoever knew
 * only that would seem to rank well. (Pools of four lose little: the rank correlation within pools of n, averaged, has a variance of
 * n / (n - 1) times that within one large pool.)
 */
import type { Environment } from '../experiment/environment.ts'
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { InterventionWithRuns } from '../experiment/records.ts'
import { finishedShare } from './evidence.ts'
import type { HistoryKind } from './history-kind.ts'
import { knownBefore } from './known-before.ts'

export interface RollingOptions {
  /** Rows in a pool. */
  readonly poolSize: number
  /** Rows at the beginning that are never tested: nothing can be learned from fewer. */
  readonly firstTested: number
  /** At most this many pools, evenly spread over the log, since each costs a forecast. */
  readonly mostPools: number
}

export const rollingDefaults: RollingOptions = { poolSize: 4, firstTested: 8, mostPools: 60 }

/** Records of one environment, at any of its versions, in time order. */
export interface Series {
  readonly environment: Environment
  readonly records: readonly ExperimentRecord[]
  /** What these were measured against, with its runs; none where records have no runs either. */
  readonly references: readonly InterventionWithRuns[]
}

export interface RollingPool {
  readonly tested: readonly ExperimentRecord[]
  /** What its environment showed earlier, as it was known when the pool began. */
  readonly earlier: readonly ExperimentRecord[]
}

/** Whether a record says how its idea went: it failed, or it has a gain. (One that finished beside an unmeasured reference has none.) */
export function isTestable(record: ExperimentRecord): boolean {
  return record.measured !== null || (record.outcome !== 'finished' && finishedShare(record) !== null)
}

/** In the order of ids, which is that of creation. A pool of one row, at the end, is left out: it has no order. */
export function rollingPools({ records, references }: Series, options: RollingOptions): RollingPool[] {
  const { poolSize, firstTested, mostPools } = options
  const ordered = records.filter(isTestable).sort((first, second) => first.id - second.id)
  const starts: number[] = []
  for (let start = firstTested; start + 2 <= ordered.length; start += poolSize) starts.push(start)
  return evenlySpread(starts, mostPools).map(start => {
    const tested = ordered.slice(start, start + poolSize)
    return { tested, earlier: knownBefore(ordered.slice(0, start), tested, references) }
  })
}

/**
 * The history of a pool. Of other environments everything is used, whenever it was measured, but nothing of a tested record's
 * near-duplicate group (`groupOf`, over all environments at once).
 */
export function historyOfPool(
  kind: HistoryKind,
  { tested, earlier }: RollingPool,
  others: readonly ExperimentRecord[],
  groupOf: ReadonlyMap<number, number>,
): ExperimentRecord[] {
  if (kind === 'none') return []
  if (kind === 'in-environment') return [...earlier]
  const forbidden = new Set(tested.map(({ id }) => groupOf.get(id)))
  const allowed = others.filter(({ id }) => !forbidden.has(groupOf.get(id)))
  return kind === 'cross-environment' ? allowed : [...allowed, ...earlier]
}

/** Record ids to near-duplicate groups. */
export function groupsById(records: readonly ExperimentRecord[]): Map<number, number> {
  const groups = nearDuplicateGroups(records)
  return new Map(records.map(({ id }, index) => [id, groups[index]!]))
}

function evenlySpread<T>(values: readonly T[], most: number): T[] {
  if (values.length <= most) return [...values]
  return Array.from({ length: most }, (_, index) => values[Math.floor((index * values.length) / most)]!)
}
