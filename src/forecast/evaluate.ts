/**
 * How good a forecaster is, with bootstrap intervals: it forecasts each part's records from the part's history, once, and
 * every figure is computed on all of them and on each resample. Which histories are fair is for the caller to say.
 */
import { type Estimate, meanEstimate } from '../statistics/bootstrap.ts'
import type { Random } from '../statistics/random.ts'
import { meanDefined } from '../statistics/summary.ts'
import type { Forecaster } from './forecaster.ts'
import type { Drawn } from './group-resamples.ts'
import { type Judged, judge, type Part } from './judge.ts'
import { judgePool } from './judge-pool.ts'
import { type Measure, measures, qualityOf, type Worth } from './quality.ts'

/** Each resample draws this many pools: their scatter adds a twentieth to the width of an interval. */
const poolsAResample = 100

export interface EvaluationOptions {
  readonly worth: Worth
  /** Random pools behind the regret and NDCG, in all parts together. */
  readonly pools: number
  /** The forecaster's. */
  readonly seed: number
  /** Draws the pools: the same stream gives the same pools for every forecaster. */
  readonly random: Random
  /** Of all records of all evaluations that are compared. */
  readonly resamples: readonly Drawn[]
}

export type Estimates = Readonly<Record<Measure, Estimate>>

export async function evaluate(
  forecaster: Forecaster,
  parts: readonly Part[],
  options: EvaluationOptions,
): Promise<Estimates> {
  const { worth, pools, seed, random, resamples } = options
  const judged: Judged[][] = []
  // One part after the other: a language model's provider keeps what consecutive questions have in common.
  for (const part of parts) judged.push(await judgePart(forecaster, part, seed))
  const quality = qualityOf(judged, { worth, pools, random: random.fork('pools') })
  const resampled = resamples.map((drawn, index) =>
    qualityOf(judged, { worth, pools: poolsAResample, random: random.fork(index), drawn }),
  )
  return estimatesFrom(measure => {
    const estimate = { value: quality[measure], resampled: resampled.map(one => one[measure]) }
    if (measure === 'regret') return centred(estimate, Number.POSITIVE_INFINITY)
    return measure === 'ndcg' ? centred(estimate, 1) : estimate
  })
}

/**
 * A pool holds a record once, and a resample has two thirds of them: of few records its pools are smaller, and there is less to choose from,
 * whoever forecasts. The scatter of the resamples is right, and their middle is not. From 0 to `most`.
 */
function centred({ value, resampled }: Estimate, most: number): Estimate {
  const shift = value - meanDefined(resampled)
  return { value, resampled: resampled.map(each => Math.min(most, Math.max(0, each + shift))) }
}

/** Each record against its own reference, where a part is not guarded; guarded ones have been of one reference so far. */
function judgePart(forecaster: Forecaster, part: Part, seed: number): Promise<Judged[]> {
  return part.guarded ? judge(forecaster, part, seed) : judgePool(forecaster, part.tested, part.history, seed)
}

/** The mean over environments, as the RWM paper gives it: a rank correlation over all would reward telling them apart. */
export function meanEstimates(byEnvironment: readonly Estimates[]): Estimates {
  return estimatesFrom(measure => meanEstimate(byEnvironment.map(estimates => estimates[measure])))
}

function estimatesFrom(of: (measure: Measure) => Estimate): Estimates {
  return Object.fromEntries(measures.map(measure => [measure, of(measure)])) as unknown as Estimates
}
