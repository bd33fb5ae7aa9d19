/**
 * Every forecaster in every condition on every environment: the numbers that the tables and the picture show.
 */
import { scores } from '../../src/campaign/choose.ts'
import { type Estimates, evaluate, meanEstimates } from '../../src/forecast/evaluate.ts'
import { type Forecaster, withoutRanking } from '../../src/forecast/forecaster.ts'
import type { Drawn } from '../../src/forecast/group-resamples.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import { type Condition, conditions, partsOf } from './conditions.ts'
import type { EnvironmentRecords } from './environment-records.ts'

export interface ComparisonOptions {
  readonly pools: number
  readonly splits: number
  readonly seed: number
  readonly resamples: readonly Drawn[]
}

export interface Comparison {
  readonly condition: Condition
  readonly forecaster: string
  /** In the order of the environments. */
  readonly byEnvironment: readonly Estimates[]
  /** The mean over environments. */
  readonly overall: Estimates
}

export async function compare(
  forecasters: Readonly<Record<string, Forecaster>>,
  environments: readonly EnvironmentRecords[],
  { pools, splits, seed, resamples }: ComparisonOptions,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = []
  for (const condition of conditions) {
    for (const [name, forecaster] of Object.entries(forecasters)) {
      // Candidates are chosen as a campaign chooses them.
      const worth = withoutRanking.includes(name) ? null : scores
      const byEnvironment: Estimates[] = []
      for (const own of environments) {
        const others = environments.filter(other => other !== own)
        const parts = partsOf(condition, own, others, { splits, seed })
        const random = seededRandom(seed).fork(own.name).fork(condition)
        byEnvironment.push(await evaluate(forecaster, parts, { worth, pools, seed, random, resamples }))
      }
      comparisons.push({ condition, forecaster: name, byEnvironment, overall: meanEstimates(byEnvironment) })
    }
  }
  return comparisons
}
