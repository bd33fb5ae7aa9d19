/**
 * How good the forecasts of a few candidates are that stood for choice together, as sums that add up over pools: so any selection of
 * pools, a bootstrap resample or a block, is judged by adding.
 */
import { type Forecast, quantileLevels } from '../experiment/record.ts'
import { kendall } from '../statistics/kendall.ts'
import { rightPairs } from '../statistics/pairwise.ts'
import { pinballLoss } from '../statistics/pinball.ts'
import { ndcgAt, regretAt } from '../statistics/ranking.ts'
import { spearman } from '../statistics/ranks.ts'
import { chanceOfGain } from './chance-of-gain.ts'
import { endingsOf } from './evidence.ts'
import type { Judged } from './judge.ts'

/** A share of a pool is chosen as large as 3 of 16: 1 of 4. */
export function chosenOf(poolSize: number): number {
  return Math.max(1, Math.round((poolSize * 3) / 16))
}

/** A numerator and a denominator, which add up separately. */
export type Ratio = readonly [number, number]

/** Of one pool. `[0, 0]` where it says nothing: the rank correlation of equal forecasts, say. */
export interface PoolQuality {
  readonly spearman: Ratio
  readonly kendall: Ratio
  /** Pairs in the right order, a tied forecast half, of those with different gains. */
  readonly pairs: Ratio
  /** Absolute errors of the median, over records with a gain. */
  readonly error: Ratio
  /** Pinball losses, mean over the quantiles, over records with a gain. */
  readonly pinball: Ratio
  /** Gains inside the 80 % interval. */
  readonly held: Ratio
  readonly regret: Ratio
  readonly ndcg: Ratio
  /** Squared errors of the chance that a finished run is better than its reference; and how many were. */
  readonly better: Ratio
  readonly betterShare: Ratio
  /** The same of finishing legally, over runs. */
  readonly finishing: Ratio
  readonly finishingShare: Ratio
}

export type PoolFigure = keyof PoolQuality

/** `worth`: what candidates are chosen by, larger first. */
export function poolQuality(pool: readonly Judged[], worth: (forecasts: readonly Forecast[]) => number[]): PoolQuality {
  const measured = pool.flatMap(({ record, forecast }) =>
    record.measured === null ? [] : [{ gain: record.measured.gain, forecast }],
  )
  const gains = measured.map(({ gain }) => gain)
  const medians = measured.map(({ forecast }) => forecast.quantiles[2])
  const runs = pool.flatMap(({ record, forecast }) =>
    endingsOf(record).map(finished => ({ finished, chance: forecast.finishes })),
  )
  const outcomes = pool.map(({ record }) => record.measured?.gain ?? null)
  const order = pool.length > 1 && measured.length > 0 ? worth(pool.map(({ forecast }) => forecast)) : null
  const chosen = chosenOf(pool.length)
  const { right, pairs } = rightPairs(gains, medians)
  return {
    spearman: once(spearman(medians, gains)),
    kendall: once(kendall(medians, gains)),
    pairs: [right, pairs],
    error: [sum(measured, ({ gain, forecast }) => Math.abs(gain - forecast.quantiles[2])), gains.length],
    pinball: [sum(measured, ({ gain, forecast }) => meanLoss(gain, forecast)), gains.length],
    held: [sum(measured, ({ gain, forecast: { quantiles: q } }) => Number(gain >= q[0] && gain <= q[4])), gains.length],
    regret: once(order && regretAt(chosen, outcomes, order)),
    ndcg: once(order && ndcgAt(chosen, outcomes, order)),
    better: [
      sum(
        measured,
        ({ gain, forecast }) => (chanceOfGain({ quantiles: forecast.quantiles, finishes: 1 }) - Number(gain > 0)) ** 2,
      ),
      gains.length,
    ],
    betterShare: [gains.filter(gain => gain > 0).length, gains.length],
    finishing: [sum(runs, ({ finished, chance }) => (chance - Number(finished)) ** 2), runs.length],
    finishingShare: [runs.filter(({ finished }) => finished).length, runs.length],
  }
}

/** The ratio of sums; NaN where no pool says anything. `times`: how often each pool counts, once by default. */
export function overPools(pools: readonly PoolQuality[], figure: PoolFigure, times?: ArrayLike<number>): number {
  let above = 0
  let below = 0
  pools.forEach((pool, index) => {
    const count = times === undefined ? 1 : times[index]!
    above += count * pool[figure][0]
    below += count * pool[figure][1]
  })
  return below === 0 ? Number.NaN : above / below
}

/** Brier skill: 1 - squared error / that of always stating the share that came true. NaN where all went the same way. */
export function skillOverPools(
  pools: readonly PoolQuality[],
  figure: 'better' | 'finishing',
  times?: ArrayLike<number>,
): number {
  const share = overPools(pools, `${figure}Share`, times)
  const reference = share * (1 - share)
  return reference > 0 ? 1 - overPools(pools, figure, times) / reference : Number.NaN
}

function meanLoss(gain: number, { quantiles }: Forecast): number {
  return sum(quantileLevels, (level, index) => pinballLoss(gain, quantiles[index]!, level)) / quantileLevels.length
}

function once(value: number | null): Ratio {
  return value === null ? [0, 0] : [value, 1]
}

function sum<T>(values: readonly T[], of: (value: T, index: number) => number): number {
  return values.reduce((total, value, index) => total + of(value, index), 0)
}
