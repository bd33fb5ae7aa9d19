/**
 * How good forecasts of one environment are, as plain numbers: order, size, choice, and honesty. Over several parts (halves)
 * ranks and choices are averaged, since only forecasts from one history can be ranked together; errors and chances are put together.
 */
import { scores as worthOf } from '../../src/campaign/choose.ts'
import { evidenceOf } from '../../src/experiment/records.ts'
import { brierSkill } from '../../src/statistics/brier.ts'
import type { Random } from '../../src/statistics/random.ts'
import { ndcgAt, regretAt } from '../../src/statistics/ranking.ts'
import { spearman } from '../../src/statistics/ranks.ts'
import type { Judged } from './judge.ts'

export const poolSize = 16
export const chosenOfPool = 3

/** NaN where a number is not defined: the rank correlation of equal forecasts, the skill where nothing failed. */
export interface Scores {
  /** Rank correlation of forecast medians and gains, over records with a gain. */
  readonly spearman: number
  /** Mean absolute error of the median, over records with a gain. */
  readonly error: number
  /** Of choosing 3 of 16 by the worth a campaign chooses by; a failure brings nothing. */
  readonly regret: number
  readonly ndcg: number
  /** Brier skill of the chance of finishing legally, over runs. */
  readonly finishing: number
  /** Share of gains inside the forecast's 80 % interval. */
  readonly held: number
}
export type Measure = keyof Scores
export const measures: readonly Measure[] = ['spearman', 'error', 'regret', 'ndcg', 'finishing', 'held']

export interface ScoringOptions {
  /** Random pools, in all parts together. */
  readonly pools: number
  /** The same stream gives the same pools for every forecaster. */
  readonly random: Random
  /** Whether the forecaster looks at candidates at all; if not, pools are chosen from at random, in expectation. */
  readonly ranks: boolean
  /** How often a resample drew a record; once each by default. */
  readonly drawn?: (record: Judged['record']) => number
}

export function scoresOf(parts: readonly (readonly Judged[])[], options: ScoringOptions): Scores {
  const { pools, random, ranks, drawn } = options
  const resampled = parts.map(part =>
    drawn === undefined ? part : part.flatMap(one => Array(drawn(one.record)).fill(one)),
  )
  const measured = resampled.map(part => part.filter(({ record }) => record.measured !== null))
  const all = measured.flat()
  const perPart = Math.ceil(pools / parts.length)
  const choices = resampled
    .filter(part => part.length > 0)
    .flatMap(part =>
      Array.from({ length: perPart }, () => choose(random.sample(part, Math.min(poolSize, part.length)), ranks)),
    )
  const runs = resampled.flat().flatMap(endingsOf)
  return {
    spearman: meanDefined(measured.map(part => (ranks ? rankCorrelation(part) : Number.NaN))),
    error: meanDefined(all.map(({ record, forecast }) => Math.abs(record.measured!.gain - forecast.quantiles[2]))),
    regret: meanDefined(choices.map(({ regret }) => regret)),
    ndcg: meanDefined(choices.map(({ ndcg }) => ndcg)),
    finishing: brierSkillOf(runs),
    held: meanDefined(
      all.map(({ record: { measured }, forecast: { quantiles } }) =>
        measured!.gain >= quantiles[0] && measured!.gain <= quantiles[4] ? 1 : 0,
      ),
    ),
  }
}

/** The mean of what is defined; NaN where nothing is. */
export function meanDefined(values: readonly number[]): number {
  const defined = values.filter(value => !Number.isNaN(value))
  return defined.reduce((sum, value) => sum + value, 0) / defined.length
}

function rankCorrelation(part: readonly Judged[]): number {
  const medians = part.map(({ forecast }) => forecast.quantiles[2])
  return (
    spearman(
      medians,
      part.map(({ record }) => record.measured!.gain),
    ) ?? Number.NaN
  )
}

function choose(pool: readonly Judged[], ranks: boolean): { readonly regret: number; readonly ndcg: number } {
  const gains = pool.map(({ record }) => record.measured?.gain ?? null)
  const worth = ranks ? worthOf(pool.map(({ forecast }) => forecast)) : gains.map(() => 0)
  return { regret: regretAt(chosenOfPool, gains, worth), ndcg: ndcgAt(chosenOfPool, gains, worth) }
}

interface Ending {
  readonly probability: number
  readonly finished: boolean
}

const endings = new WeakMap<Judged, Ending[]>()

function endingsOf(judged: Judged): Ending[] {
  const known = endings.get(judged)
  if (known) return known
  const found = evidenceOf(judged.record.runs).map(({ outcome }) => ({
    probability: judged.forecast.finishes,
    finished: outcome!.kind === 'finished',
  }))
  endings.set(judged, found)
  return found
}

function brierSkillOf(runs: readonly Ending[]): number {
  if (runs.length === 0) return Number.NaN
  return (
    brierSkill(
      runs.map(({ probability }) => probability),
      runs.map(({ finished }) => finished),
    ) ?? Number.NaN
  )
}
