/**
 * Every forecaster in every condition on every environment: the numbers that the tables and the picture show.
 */
import type { Forecaster } from '../../src/forecast/forecaster.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import { type Condition, conditions, partsOf } from './conditions.ts'
import type { EnvironmentRecords } from './environment-records.ts'
import { combine, type Drawn, type Estimate } from './estimates.ts'
import { judge } from './judge.ts'
import { type Measure, meanDefined, measures, type Scores, scoresOf } from './scores.ts'

/** These give every candidate the same forecast: they have no ranking, and choose at random in expectation. */
export const withoutRanking: readonly string[] = ['constant', 'recent']

/** Each resample draws this many pools: their scatter adds a twentieth to the width of an interval. */
const poolsAResample = 100

export interface ComparisonOptions {
  readonly pools: number
  readonly splits: number
  readonly seed: number
  readonly resamples: readonly Drawn[]
}

export type Estimates = Readonly<Record<Measure, Estimate>>

export interface Comparison {
  readonly condition: Condition
  readonly forecaster: string
  /** In the order of the environments. */
  readonly byEnvironment: readonly Estimates[]
  /** The mean over environments. */
  readonly overall: Estimates
}

export function compare(
  forecasters: Readonly<Record<string, Forecaster>>,
  environments: readonly EnvironmentRecords[],
  options: ComparisonOptions,
): Comparison[] {
  return conditions.flatMap(condition =>
    Object.entries(forecasters).map(([name, forecaster]) => {
      const byEnvironment = environments.map(own =>
        estimatesOf(name, forecaster, condition, own, environments, options),
      )
      return { condition, forecaster: name, byEnvironment, overall: overallOf(byEnvironment) }
    }),
  )
}

function estimatesOf(
  name: string,
  forecaster: Forecaster,
  condition: Condition,
  own: EnvironmentRecords,
  environments: readonly EnvironmentRecords[],
  { pools, splits, seed, resamples }: ComparisonOptions,
): Estimates {
  const parts = partsOf(
    condition,
    own,
    environments.filter(other => other !== own),
    { splits, seed },
  )
  const judged = parts.map(part => judge(forecaster, part, seed))
  const ranks = !withoutRanking.includes(name)
  const random = seededRandom(seed).fork(own.name).fork(condition)
  const value = scoresOf(judged, { pools, ranks, random: random.fork('pools') })
  const resampled = resamples.map((drawn, index) =>
    scoresOf(judged, { pools: poolsAResample, ranks, drawn, random: random.fork(index) }),
  )
  return estimatesFrom(measure => ({ value: value[measure], resampled: resampled.map((one: Scores) => one[measure]) }))
}

/** The mean over environments, as the paper gives it: a rank correlation over both would reward telling them apart. */
function overallOf(byEnvironment: readonly Estimates[]): Estimates {
  return estimatesFrom(measure =>
    combine(
      byEnvironment.map(estimates => estimates[measure]),
      (...values) => meanDefined(values),
    ),
  )
}

function estimatesFrom(of: (measure: Measure) => Estimate): Estimates {
  return Object.fromEntries(measures.map(measure => [measure, of(measure)])) as unknown as Estimates
}
