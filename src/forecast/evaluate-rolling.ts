/**
 * Forecasters judged by rolling origin on one environment or several: each forecasts the same pools, one after the other.
 */

import type { Environment } from '../experiment/environment.ts'
import { type ExperimentRecord, type Forecast, quantileLevels } from '../experiment/record.ts'
import { meanEstimate } from '../statistics/bootstrap.ts'
import { meanPinballLoss } from '../statistics/pinball.ts'
import { type Random, seededRandom } from '../statistics/random.ts'
import { regretAt } from '../statistics/ranking.ts'
import { meanDefined, quantile } from '../statistics/summary.ts'
import { constant } from './constant.ts'
import { type Contender, type Difference, differences, type Scale } from './differences.ts'
import { comparableFigures, type Figures, figuresOf, type PoolResample, poolResamples } from './figures.ts'
import type { Forecaster } from './forecaster.ts'
import type { HistoryKind } from './history-kind.ts'
import type { Judged } from './judge.ts'
import { byReference, judgePool } from './judge-pool.ts'
import { chosenOf, type PoolQuality, poolQuality } from './pool-quality.ts'
import {
  groupsById,
  historyOfPool,
  type RollingOptions,
  type RollingPool,
  rollingDefaults,
  rollingPools,
  type Series,
} from './rolling-origin.ts'

/** A forecaster with what it may know. */
export interface Entrant {
  readonly name: string
  readonly forecaster: Forecaster
  readonly history: HistoryKind
  /** The entrant that it is a control of, by name: it is judged, and not compared with the others. */
  readonly controls?: string
}

/** What is forecast, and from what. */
export interface RollingPlan {
  readonly environments: readonly Series[]
  /** By environment. */
  readonly pools: readonly (readonly RollingPool[])[]
  historyOf(kind: HistoryKind, environment: number, pool: RollingPool): ExperimentRecord[]
}

export interface RollingEvaluationOptions {
  readonly resamples: number
  readonly seed: number
  /** What candidates are chosen by, larger first. */
  readonly worth: (forecasts: readonly Forecast[]) => number[]
  /** Told before each pool of each entrant, and waited for: it may let others have a turn. */
  readonly progress?: (entrant: Entrant, done: number, of: number) => void | Promise<void>
}

export interface EntrantResult {
  readonly entrant: Entrant
  /** By environment, then by pool. */
  readonly judged: readonly (readonly (readonly Judged[])[])[]
  readonly byEnvironment: readonly Figures[]
  /** By environment: the pools behind its rank correlations, those without equal forecasts only. */
  readonly ranked: readonly number[]
  /** The mean over environments of the figures that mean the same in all. */
  readonly overall: Pick<Figures, (typeof comparableFigures)[number]>
}

export interface RollingEvaluation {
  /** In the order of the entrants. */
  readonly results: readonly EntrantResult[]
  /** On the mean over all environments; between all pairs of entrants. */
  readonly differences: readonly Difference[]
}

/** `others`: environments that forecasts may learn from and that are not evaluated. An environment with no pool is refused. */
export function planRolling(
  environments: readonly Series[],
  others: readonly Series[] = [],
  options: RollingOptions = rollingDefaults,
): RollingPlan {
  const pools = environments.map(series => rollingPools(series, options))
  pools.forEach((some, index) => {
    if (some.length > 0) return
    const { environment, records } = environments[index]!
    throw new Error(
      `planRolling: ${environment.family.name} has ${records.length} records; it needs ${options.firstTested + 2} with an outcome or more`,
    )
  })
  const source = [...environments, ...others]
  // Only other environments' records are ever left out, so with none of them nobody asks.
  const groups = source.length > 1 ? groupsById(source.flatMap(({ records }) => records)) : new Map<number, number>()
  const foreign = environments.map((_, index) =>
    source.flatMap((series, other) => (other === index ? [] : series.records)),
  )
  return {
    environments,
    pools,
    historyOf: (kind, environment, pool) => historyOfPool(kind, pool, foreign[environment]!, groups),
  }
}

/** Everything that an entrant with that history will be asked, for whoever wants to know what it will take. */
export function questionsOf(
  { pools, historyOf }: RollingPlan,
  kind: HistoryKind,
): { readonly environment: Environment; readonly history: ExperimentRecord[]; readonly tested: ExperimentRecord[] }[] {
  return pools.flatMap((some, environment) =>
    some.flatMap(pool => {
      const history = historyOf(kind, environment, pool)
      return byReference(pool.tested).map(({ environment, tested }) => ({ environment, history, tested }))
    }),
  )
}

/**
 * Loss and regret are stated beside those of `constant` on the environment's earlier rows, whoever is compared: without a history it
 * would know nothing of the metric's unit.
 */
export async function evaluateRolling(
  entrants: readonly Entrant[],
  { pools, historyOf }: RollingPlan,
  options: RollingEvaluationOptions,
): Promise<RollingEvaluation> {
  const total = pools.flat().length
  const judgedBy = async (
    { forecaster, history }: Pick<Entrant, 'forecaster' | 'history'>,
    before?: (done: number) => void | Promise<void>,
  ): Promise<Judged[][][]> => {
    const own: Judged[][][] = []
    let done = 0
    for (const [environment, some] of pools.entries()) {
      const inOrder: Judged[][] = []
      for (const pool of some) {
        await before?.(done++)
        inOrder.push(await judgePool(forecaster, pool.tested, historyOf(history, environment, pool), options.seed))
      }
      own.push(inOrder)
    }
    return own
  }
  const judged: Judged[][][][] = []
  for (const entrant of entrants) judged.push(await judgedBy(entrant, done => options.progress?.(entrant, done, total)))
  const qualitiesOf = (own: readonly (readonly (readonly Judged[])[])[]) =>
    own.map(some => some.map(pool => poolQuality(pool, options.worth)))
  const qualities = judged.map(qualitiesOf)
  const yardstick = qualitiesOf(await judgedBy({ forecaster: constant, history: 'in-environment' }))
  const random = seededRandom(options.seed).fork('rolling')
  const resamples = pools.map((some, index) =>
    poolResamples(some.length, options.resamples, random.fork(`environment ${index}`)),
  )
  return {
    results: entrants.map((entrant, index) =>
      resultOf(entrant, judged[index]!, qualities[index]!, yardstick, resamples),
    ),
    differences: compared(entrants, qualities, pools.map(scaleOf), resamples, random),
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
  const ranked = own.map(pools => pools.reduce((sum, { spearman }) => sum + spearman[1], 0))
  return { entrant, judged, byEnvironment, ranked, overall }
}

function compared(
  entrants: readonly Entrant[],
  qualities: readonly (readonly (readonly PoolQuality[])[])[],
  scales: readonly Scale[],
  resamples: readonly (readonly PoolResample[])[],
  random: Random,
): Difference[] {
  const contenders = entrants.map(({ name }, index): Contender => ({ name, byEnvironment: qualities[index]! }))
  const compared = contenders.filter((_, index) => entrants[index]!.controls === undefined)
  return differences(compared, scales, resamples, random.fork('differences'))
}

function scaleOf(pools: readonly RollingPool[]): Scale {
  const gains = pools.flatMap(({ tested }) => tested.flatMap(({ measured }) => measured?.gain ?? []))
  if (gains.length === 0) return { pinball: Number.NaN, regret: Number.NaN }
  const best = quantileLevels.map(level => quantile(gains, level))
  const regrets = pools.flatMap(({ tested }) => {
    const outcomes = tested.map(({ measured }) => measured?.gain ?? null)
    if (outcomes.every(gain => gain === null)) return []
    return [
      regretAt(
        chosenOf(outcomes.length),
        outcomes,
        outcomes.map(() => 0),
      ),
    ]
  })
  return {
    pinball: meanPinballLoss(
      gains,
      gains.map(() => best),
      quantileLevels,
    ),
    regret: meanDefined(regrets),
  }
}
