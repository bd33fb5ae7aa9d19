/**
 * Forecasters judged by rolling origin on one environment or several: each forecasts the same pools, one after the other.
 */

import type { Forecast } from '../experiment/record.ts'
import { meanEstimate } from '../statistics/bootstrap.ts'
import { type Random, seededRandom } from '../statistics/random.ts'
import { type Contender, type Difference, differences } from './differences.ts'
import { comparableFigures, type Figures, figuresOf, type PoolResample, poolResamples } from './figures.ts'
import type { Forecaster } from './forecaster.ts'
import type { HistoryKind } from './history-kind.ts'
import type { Judged } from './judge.ts'
import { judgePool } from './judge-pool.ts'
import { type PoolQuality, poolQuality } from './pool-quality.ts'
import {
  groupsById,
  historyOfPool,
  type RollingOptions,
  type RollingPool,
  rollingPools,
  type Series,
} from './rolling-origin.ts'

/** A forecaster with what it may know. */
export interface Entrant {
  readonly name: string
  readonly forecaster: Forecaster
  readonly history: HistoryKind
}

export interface RollingEvaluationOptions extends RollingOptions {
  readonly resamples: number
  readonly seed: number
  /** What candidates are chosen by, larger first. */
  readonly worth: (forecasts: readonly Forecast[]) => number[]
  /** Environments that forecasts may learn from and that are not evaluated. */
  readonly others?: readonly Series[]
  /** Told before each pool of each entrant. */
  readonly progress?: (done: number, of: number) => void
}

export interface EntrantResult {
  readonly entrant: Entrant
  /** By environment, then by pool. */
  readonly judged: readonly (readonly (readonly Judged[])[])[]
  readonly byEnvironment: readonly Figures[]
  /** The mean over environments of the figures that mean the same in all. */
  readonly overall: Pick<Figures, (typeof comparableFigures)[number]>
}

export interface RollingEvaluation {
  /** By environment. */
  readonly pools: readonly (readonly RollingPool[])[]
  /** In the order of the entrants. */
  readonly results: readonly EntrantResult[]
  /** On the mean over all environments; between all pairs of entrants. */
  readonly differences: readonly Difference[]
}

/**
 * The first entrant is the yardstick: loss and regret are stated beside its own, so it should be one that looks at no candidate. An
 * environment with no pool is refused.
 */
export async function evaluateRolling(
  entrants: readonly Entrant[],
  environments: readonly Series[],
  options: RollingEvaluationOptions,
): Promise<RollingEvaluation> {
  const pools = environments.map(({ records }) => rollingPools(records, options))
  pools.forEach((some, index) => {
    if (some.length > 0) return
    const { environment, records } = environments[index]!
    throw new Error(
      `evaluateRolling: ${environment.family.name} has ${records.length} records; it needs ${options.firstTested + 2} with an outcome or more`,
    )
  })
  const source = [...environments, ...(options.others ?? [])]
  const groups = groupsById(source.flatMap(({ records }) => records))
  const total = entrants.length * pools.flat().length
  let done = 0
  const judged: Judged[][][][] = []
  for (const { forecaster, history } of entrants) {
    const own: Judged[][][] = []
    for (const [index, some] of pools.entries()) {
      const others = source.flatMap(({ records }, other) => (other === index ? [] : records))
      const inOrder: Judged[][] = []
      for (const pool of some) {
        options.progress?.(done++, total)
        const known = historyOfPool(history, pool, others, groups)
        inOrder.push(await judgePool(forecaster, pool.tested, known, options.seed))
      }
      own.push(inOrder)
    }
    judged.push(own)
  }
  const qualities = judged.map(own => own.map(some => some.map(pool => poolQuality(pool, options.worth))))
  const random = seededRandom(options.seed).fork('rolling')
  const resamples = pools.map((some, index) =>
    poolResamples(some.length, options.resamples, random.fork(`environment ${index}`)),
  )
  return {
    pools,
    results: entrants.map((entrant, index) =>
      resultOf(entrant, judged[index]!, qualities[index]!, qualities[0]!, resamples),
    ),
    differences: compared(entrants, qualities, resamples, random),
  }
}

function resultOf(
  entrant: Entrant,
  judged: EntrantResult['judged'],
  own: readonly (readonly PoolQuality[])[],
  yardstick: readonly (readonly PoolQuality[])[],
  resamples: readonly (readonly PoolResample[])[],
): EntrantResult {
  const byEnvironment = own.map((pools, index) => figuresOf(pools, yardstick[index]!, resamples[index]!))
  const overall = Object.fromEntries(
    comparableFigures.map(figure => [figure, meanEstimate(byEnvironment.map(figures => figures[figure]))]),
  ) as EntrantResult['overall']
  return { entrant, judged, byEnvironment, overall }
}

function compared(
  entrants: readonly Entrant[],
  qualities: readonly (readonly (readonly PoolQuality[])[])[],
  resamples: readonly (readonly PoolResample[])[],
  random: Random,
): Difference[] {
  const contenders = entrants.map(({ name }, index): Contender => ({ name, byEnvironment: qualities[index]! }))
  return differences(contenders, contenders[0]!, resamples, random.fork('differences'))
}
