/**
 * How good forecasts of one environment are, as plain numbers: order, size, choice, and honesty. Over several parts (halves)
 * ranks and choices are averaged, since only forecasts from one history can be ranked together; errors and chances are put together.
 */
import { type Forecast, quantileLevels } from '../experiment/record.ts'
import { brierSkill } from '../statistics/brier.ts'
import { kendall } from '../statistics/kendall.ts'
import { pairwiseAccuracy } from '../statistics/pairwise.ts'
import { coverage, meanPinballLoss } from '../statistics/pinball.ts'
import type { Random } from '../statistics/random.ts'
import { ndcgAt, regretAt } from '../statistics/ranking.ts'
import { spearman } from '../statistics/ranks.ts'
import { meanDefined } from '../statistics/summary.ts'
import { chanceOfGain } from './chance-of-gain.ts'
import { endingsOf } from './evidence.ts'
import type { Drawn } from './group-resamples.ts'
import type { Judged } from './judge.ts'

/** Records in a pool, or all where fewer are tested, and how many of them are chosen. */
export const poolSize = 16
export const chosenOfPool = 3

/** NaN where a number is not defined: the rank correlation of equal forecasts, the skill where nothing failed. */
export interface Quality {
  /** Rank correlation of forecast medians and gains, over records with a gain. */
  readonly spearman: number
  readonly kendall: number
  /** Share of pairs of gains in the right order; half for a tied forecast. */
  readonly pairs: number
  /** Mean absolute error of the median, over records with a gain. */
  readonly error: number
  /** Of all quantiles, over records with a gain. */
  readonly pinball: number
  /** Share of gains inside the forecast's 80 % interval. */
  readonly held: number
  /** Of choosing 3 of 16 by the worth; a failure brings nothing. */
  readonly regret: number
  readonly ndcg: number
  /** Brier skill of the chance that a run that finished is better than its reference. */
  readonly better: number
  /** Brier skill of the chance of finishing legally, over runs. */
  readonly finishing: number
}
export type Measure = keyof Quality
export const measures: readonly Measure[] = [
  'spearman',
  'kendall',
  'pairs',
  'error',
  'pinball',
  'held',
  'regret',
  'ndcg',
  'better',
  'finishing',
]

/**
 * What pools are ranked by, larger first. Null for a forecaster that does not look at candidates: it has no ranking, and
 * pools are chosen from at random, in expectation.
 */
export type Worth = ((forecasts: readonly Forecast[]) => number[]) | null

export interface QualityOptions {
  readonly worth: Worth
  /** Random pools, in all parts together. */
  readonly pools: number
  /** The same stream gives the same pools for every forecaster. */
  readonly random: Random
  /** Once each by default. */
  readonly drawn?: Drawn
}

export function qualityOf(parts: readonly (readonly Judged[])[], options: QualityOptions): Quality {
  if (parts.every(part => part.length === 0)) throw new Error('qualityOf: no record is tested; give at least one')
  const { pools, random, worth, drawn } = options
  const resampled = parts.map(part =>
    drawn === undefined ? part : part.flatMap(one => Array<Judged>(drawn(one.record)).fill(one)),
  )
  const measured = resampled.map(part => part.filter(({ record }) => record.measured !== null))
  const perPart = Math.ceil(pools / parts.length)
  const choices = resampled
    .filter(part => part.length > 0)
    .flatMap(part => Array.from({ length: perPart }, () => choose(drawPool(part, random), worth)))
  return {
    spearman: meanDefined(measured.map(part => (worth === null ? Number.NaN : agreement(spearman, part)))),
    kendall: meanDefined(measured.map(part => (worth === null ? Number.NaN : agreement(kendall, part)))),
    pairs: meanDefined(measured.map(part => (worth === null ? 0.5 : agreement(pairwiseAccuracy, part)))),
    ...sizeOf(measured.flat()),
    regret: meanDefined(choices.map(({ regret }) => regret)),
    ndcg: meanDefined(choices.map(({ ndcg }) => ndcg)),
    better: betterSkill(measured.flat()),
    finishing: finishingSkill(resampled.flat()),
  }
}

/** A record that a resample has drawn twice cannot be offered twice: pools with copies have fewer to choose from, and more to regret. */
function drawPool(part: readonly Judged[], random: Random): Judged[] {
  const left = [...part]
  const pool = new Set<Judged>()
  for (let place = 0; place < left.length && pool.size < poolSize; place++) {
    const drawn = place + random.integer(left.length - place)
    pool.add(left[drawn]!)
    left[drawn] = left[place]!
  }
  return [...pool]
}

function agreement(
  of: (gains: readonly number[], medians: readonly number[]) => number | null,
  part: readonly Judged[],
): number {
  const medians = part.map(({ forecast }) => forecast.quantiles[2])
  return of(part.map(gainOf), medians) ?? Number.NaN
}

function sizeOf(measured: readonly Judged[]): Pick<Quality, 'error' | 'pinball' | 'held'> {
  if (measured.length === 0) return { error: Number.NaN, pinball: Number.NaN, held: Number.NaN }
  const gains = measured.map(gainOf)
  const quantiles = measured.map(({ forecast }) => forecast.quantiles)
  const column = (level: 0 | 2 | 4) => quantiles.map(five => five[level])
  return {
    error: meanDefined(column(2).map((median, index) => Math.abs(gains[index]! - median))),
    pinball: meanPinballLoss(gains, quantiles, quantileLevels),
    held: coverage(gains, column(0), column(4)),
  }
}

function gainOf({ record }: Judged): number {
  return record.measured!.gain
}

function choose(pool: readonly Judged[], worth: Worth): { readonly regret: number; readonly ndcg: number } {
  const gains = pool.map(({ record }) => record.measured?.gain ?? null)
  const predictions = worth === null ? gains.map(() => 0) : worth(pool.map(({ forecast }) => forecast))
  return { regret: regretAt(chosenOfPool, gains, predictions), ndcg: ndcgAt(chosenOfPool, gains, predictions) }
}

function betterSkill(measured: readonly Judged[]): number {
  if (measured.length === 0) return Number.NaN
  const chances = measured.map(({ forecast: { quantiles } }) => chanceOfGain({ quantiles, finishes: 1 }))
  return (
    brierSkill(
      chances,
      measured.map(one => gainOf(one) > 0),
    ) ?? Number.NaN
  )
}

/** Resamples ask for the same records hundreds of times. */
const endings = new WeakMap<Judged, readonly boolean[]>()

function finishingSkill(judged: readonly Judged[]): number {
  const runs = judged.flatMap(one => {
    const finished = endings.get(one) ?? endingsOf(one.record)
    endings.set(one, finished)
    return finished.map(finished => ({ probability: one.forecast.finishes, finished }))
  })
  if (runs.length === 0) return Number.NaN
  return (
    brierSkill(
      runs.map(({ probability }) => probability),
      runs.map(({ finished }) => finished),
    ) ?? Number.NaN
  )
}
