/**
 * How good forecasts are, on records whose outcome is known: order (Spearman, Regret and NDCG of choosing a few of many
 * random pools), size (mean absolute error of the median), and honesty (coverage of the 80% interval, pinball loss, Brier
 * skill of finishing). Every number has a bootstrap interval over the tested records. The split is the caller's.
 */
import { type Environment, objectiveOf } from '../experiment/environment.ts'
import { type ExperimentRecord, type Forecast, quantileLevels } from '../experiment/record.ts'
import { bootstrapInterval, type Interval } from '../statistics/bootstrap.ts'
import { brierSkill } from '../statistics/brier.ts'
import { coverage, meanPinballLoss } from '../statistics/pinball.ts'
import { seededRandom } from '../statistics/random.ts'
import { ndcgAt, regretAt } from '../statistics/ranking.ts'
import { spearman } from '../statistics/ranks.ts'
import { mean } from '../statistics/summary.ts'
import { finishedShare } from './evidence.ts'
import type { Forecaster } from './forecaster.ts'

/** `tested` are records of the environment; nothing of them may be in `history`. */
export interface Split {
  readonly environment: Environment
  readonly history: readonly ExperimentRecord[]
  readonly tested: readonly ExperimentRecord[]
}

export interface EvaluationOptions {
  readonly seed: number
  /** Random pools of which a few are chosen; 1,000 by default. */
  readonly pools?: number
  /** 16 by default, or all where fewer are tested. */
  readonly poolSize?: number
  /** 3 by default. */
  readonly chosen?: number
  /** What pools are ranked by, larger first; the median by default. */
  readonly worth?: (forecasts: readonly Forecast[]) => readonly number[]
}

/** A number with its 95% bootstrap interval; NaN where it is not defined (the rank correlation of a constant). */
export interface Estimate extends Interval {
  readonly value: number
}

export interface Quality {
  /** Over the tested records with a gain, as are the errors. */
  readonly spearman: Estimate
  readonly meanAbsoluteError: Estimate
  readonly pinballLoss: Estimate
  /** Share of gains between the quantiles 0.1 and 0.9. */
  readonly coverage: Estimate
  /** Of choosing from pools of all tested records; a chosen failure brings nothing. */
  readonly regret: Estimate
  readonly ndcg: Estimate
  /** Over all tested records that ended. */
  readonly brierSkill: Estimate
  readonly forecasts: readonly Forecast[]
}

/** Intervals of the choices draw this many resamples of the records, and in each this many pools. */
const poolReplicates = 300
const poolsAReplicate = 40

export function evaluate(forecaster: Forecaster, split: Split, options: EvaluationOptions): Quality {
  const { environment, history, tested } = split
  const { seed, pools = 1000, poolSize = 16, chosen = 3, worth = medians } = options
  if (tested.length === 0) throw new Error('evaluate: no record is tested; give at least one')
  const known = new Set(history.map(({ id }) => id))
  const leaked = tested.find(({ id }) => known.has(id))
  if (leaked !== undefined) {
    throw new Error(`evaluate: record ${leaked.id} is both tested and in the history; leave it out of one`)
  }
  const forecasts = forecaster(environment, history, tested, { seed })
  const measured = tested.flatMap((record, index) =>
    record.measured === null ? [] : [{ gain: record.measured.gain, quantiles: forecasts[index]!.quantiles }],
  )
  const over = (statistic: (chosen: readonly (typeof measured)[number][]) => number): Estimate =>
    estimate(measured, statistic, { seed, replicates: 2000 })

  const gains = tested.map(({ measured }) => measured?.gain ?? null)
  const predictions = worth(forecasts)
  const size = Math.min(poolSize, tested.length)
  const choosing = (score: typeof regretAt): Estimate => {
    const averaged = (indices: ArrayLike<number>, count: number) => {
      const random = seededRandom(seed).fork('pools')
      const all = Array.from(indices)
      const scores = Array.from({ length: count }, () => {
        const pool = random.sample(all, size)
        return score(
          chosen,
          pool.map(index => gains[index]!),
          pool.map(index => predictions[index]!),
        )
      })
      return mean(scores)
    }
    const interval = bootstrapInterval(tested.length, indices => averaged(indices, poolsAReplicate), {
      seed,
      replicates: poolReplicates,
    })
    return { value: averaged([...tested.keys()], pools), ...interval }
  }
  const ended = tested.flatMap((record, index) => {
    const share = finishedShare(record)
    return share === null ? [] : [{ finished: share > 0.5, probability: forecasts[index]!.finishes }]
  })
  return {
    spearman: over(
      chosen =>
        spearman(
          chosen.map(({ quantiles }) => quantiles[2]),
          chosen.map(({ gain }) => gain),
        ) ?? Number.NaN,
    ),
    meanAbsoluteError: over(chosen => mean(chosen.map(({ gain, quantiles }) => Math.abs(gain - quantiles[2])))),
    pinballLoss: over(chosen =>
      meanPinballLoss(
        chosen.map(({ gain }) => gain),
        chosen.map(({ quantiles }) => quantiles),
        quantileLevels,
      ),
    ),
    coverage: over(chosen =>
      coverage(
        chosen.map(({ gain }) => gain),
        chosen.map(({ quantiles }) => quantiles[0]),
        chosen.map(({ quantiles }) => quantiles[4]),
      ),
    ),
    regret: choosing(regretAt),
    ndcg: choosing(ndcgAt),
    brierSkill: estimate(
      ended,
      chosen =>
        brierSkill(
          chosen.map(({ probability }) => probability),
          chosen.map(({ finished }) => finished),
        ) ?? Number.NaN,
      { seed, replicates: 2000 },
    ),
    forecasts,
  }
}

/**
 * The rank correlation of one seed's metric with another's over the same interventions: what a perfect forecast of one
 * run could reach. Null where fewer than three records have two finished runs, or they are all equal.
 */
export function noiseCeiling(
  records: readonly ExperimentRecord[],
  { seed }: { readonly seed: number },
): Estimate | null {
  const pairs = records.flatMap(record => {
    const { name } = objectiveOf(record.environment.family)
    const finished = record.runs.filter(({ outcome }) => outcome?.kind === 'finished')
    const bySeed = new Map(finished.map(run => [run.seed, run.outcome!.metrics[name]]))
    const values = [...bySeed].sort(([first], [second]) => first - second).map(([, value]) => value)
    const [first, second] = values.filter(value => value !== undefined)
    return first === undefined || second === undefined ? [] : [{ first, second }]
  })
  if (pairs.length < 3) return null
  const ceiling = estimate(
    pairs,
    chosen =>
      spearman(
        chosen.map(({ first }) => first),
        chosen.map(({ second }) => second),
      ) ?? Number.NaN,
    { seed, replicates: 2000 },
  )
  return Number.isNaN(ceiling.value) ? null : ceiling
}

function medians(forecasts: readonly Forecast[]): number[] {
  return forecasts.map(({ quantiles }) => quantiles[2])
}

function estimate<Item>(
  items: readonly Item[],
  statistic: (chosen: readonly Item[]) => number,
  options: { readonly seed: number; readonly replicates: number },
): Estimate {
  if (items.length === 0) return { value: Number.NaN, low: Number.NaN, high: Number.NaN }
  const interval = bootstrapInterval(
    items.length,
    indices => statistic(Array.from(indices, index => items[index]!)),
    options,
  )
  return { value: statistic(items), ...interval }
}
