/**
 * How good it is to choose a few of a pool by a prediction, over many random pools of the tested records.
 */
import { bootstrapInterval } from '../statistics/bootstrap.ts'
import { seededRandom } from '../statistics/random.ts'
import type { Gain } from '../statistics/ranking.ts'
import { mean } from '../statistics/summary.ts'
import type { Estimate } from './estimate.ts'

export interface PoolPlan {
  readonly seed: number
  readonly pools: number
  readonly poolSize: number
  readonly chosen: number
}

/** Intervals draw this many resamples of the records, and in each this many pools. */
const replicates = 300
const poolsAReplicate = 40

/** The mean of a score (`regretAt`, `ndcgAt`) over pools; a pool holds no record twice, but is all where there are fewer. */
export function choiceEstimate(
  score: (k: number, gains: readonly Gain[], predictions: readonly number[]) => number,
  gains: readonly Gain[],
  predictions: readonly number[],
  { seed, pools, poolSize, chosen }: PoolPlan,
): Estimate {
  const averaged = (indices: readonly number[], count: number): number => {
    // The same pools for every forecaster, so that their scores compare.
    const random = seededRandom(seed).fork('pools')
    const scores = Array.from({ length: count }, () => {
      const pool = random.sample(indices, Math.min(poolSize, indices.length))
      return score(
        chosen,
        pool.map(index => gains[index]!),
        pool.map(index => predictions[index]!),
      )
    })
    return mean(scores)
  }
  const resampled = (indices: Int32Array) => averaged(Array.from(indices), poolsAReplicate)
  return {
    value: averaged([...gains.keys()], pools),
    ...bootstrapInterval(gains.length, resampled, { seed, replicates }),
  }
}
