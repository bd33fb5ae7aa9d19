/**
 * How good forecasts are, on records whose outcome is known: order (Spearman, Regret and NDCG of choosing a few of many
 * random pools), size (mean absolute error of the median), and honesty (coverage of the 80% interval, pinball loss, Brier
 * skill of finishing). Every number has a bootstrap interval over the tested records. The split is the caller's.
 */
import { type Environment, objectiveOf } from '../experiment/environment.ts'
import { type ExperimentRecord, type Forecast, type Quantiles, quantileLevels } from '../experiment/record.ts'
import { brierSkill } from '../statistics/brier.ts'
import { coverage, meanPinballLoss } from '../statistics/pinball.ts'
import { ndcgAt, regretAt } from '../statistics/ranking.ts'
import { spearman } from '../statistics/ranks.ts'
import { mean } from '../statistics/summary.ts'
import { type Estimate, estimate } from './estimate.ts'
import { finishedShare } from './evidence.ts'
import type { Forecaster } from './forecaster.ts'
import { choiceEstimate } from './pool-choice.ts'

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
  readonly worth?: (forecasts: readonly Forecast[]) => number[]
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

export function evaluate(forecaster: Forecaster, split: Split, options: EvaluationOptions): Quality {
  const { environment, history, tested } = split
  const { seed, pools = 1000, poolSize = 16, chosen = 3, worth = medians } = options
  refuseLeaks(split)
  const forecasts = forecaster(environment, history, tested, { seed })

  const measured = tested.flatMap((record, index) =>
    record.measured === null ? [] : [{ gain: record.measured.gain, quantiles: forecasts[index]!.quantiles }],
  )
  const over = (statistic: (gains: number[], quantiles: Quantiles[]) => number): Estimate =>
    estimate(
      measured,
      records =>
        statistic(
          records.map(({ gain }) => gain),
          records.map(({ quantiles }) => quantiles),
        ),
      seed,
    )
  const column = (quantiles: readonly Quantiles[], level: 0 | 2 | 4) => quantiles.map(five => five[level])

  const gains = tested.map(({ measured }) => measured?.gain ?? null)
  const predictions = worth(forecasts)
  const plan = { seed, pools, poolSize, chosen }
  const ended = tested.flatMap((record, index) => {
    const share = finishedShare(record)
    return share === null ? [] : [{ finished: share > 0.5, probability: forecasts[index]!.finishes }]
  })
  return {
    spearman: over((gains, quantiles) => spearman(column(quantiles, 2), gains) ?? Number.NaN),
    meanAbsoluteError: over((gains, quantiles) => mean(gains.map((gain, i) => Math.abs(gain - quantiles[i]![2])))),
    pinballLoss: over((gains, quantiles) => meanPinballLoss(gains, quantiles, quantileLevels)),
    coverage: over((gains, quantiles) => coverage(gains, column(quantiles, 0), column(quantiles, 4))),
    regret: choiceEstimate(regretAt, gains, predictions, plan),
    ndcg: choiceEstimate(ndcgAt, gains, predictions, plan),
    brierSkill: estimate(
      ended,
      records =>
        brierSkill(
          records.map(({ probability }) => probability),
          records.map(({ finished }) => finished),
        ) ?? Number.NaN,
      seed,
    ),
    forecasts,
  }
}

function refuseLeaks({ history, tested }: Split): void {
  if (tested.length === 0) throw new Error('evaluate: no record is tested; give at least one')
  const known = new Set(history.map(({ id }) => id))
  const leaked = tested.find(({ id }) => known.has(id))
  if (leaked === undefined) return
  throw new Error(`evaluate: record ${leaked.id} is both tested and in the history; leave it out of one`)
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
    seed,
  )
  return Number.isNaN(ceiling.value) ? null : ceiling
}

function medians(forecasts: readonly Forecast[]): number[] {
  return forecasts.map(({ quantiles }) => quantiles[2])
}
