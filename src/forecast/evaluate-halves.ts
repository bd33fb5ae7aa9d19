/**
 * Forecasters judged on random halves of an environment's records, each half once the history of the other: for records that have no
 * order in time, such as those of a sweep. Whoever evaluates a log this way lets forecasts know what came later.
 */
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import type { Forecast } from '../experiment/record.ts'
import { bootstrapProbability, combine, type Estimate, intervalOf, meanEstimate } from '../statistics/bootstrap.ts'
import { holm } from '../statistics/holm.ts'
import { seededRandom } from '../statistics/random.ts'
import { type ComparedMeasure, comparedMeasures, type Difference } from './differences.ts'
import { type Estimates, evaluate } from './evaluate.ts'
import type { Entrant, EntrantResult } from './evaluate-rolling.ts'
import { comparableFigures, type Figures } from './figures.ts'
import { withoutRanking } from './forecaster.ts'
import { groupResamples } from './group-resamples.ts'
import { randomHalves } from './halves.ts'
import type { Series } from './rolling-origin.ts'

export interface HalvesOptions {
  /** Random halves; each is evaluated both ways. */
  readonly splits: number
  /** Random pools of 16 behind regret and NDCG. */
  readonly pools: number
  readonly resamples: number
  readonly seed: number
  readonly worth: (forecasts: readonly Forecast[]) => number[]
}

export interface HalvesEvaluation {
  readonly results: readonly Omit<EntrantResult, 'judged' | 'ranked'>[]
  /** p by Student's t over the bootstrap's standard error: near-duplicate groups are drawn again. */
  readonly differences: readonly Difference[]
}

/** The first entrant is the yardstick: loss and regret are stated beside its own. Histories are the other half, whatever an entrant says. */
export async function evaluateHalves(
  entrants: readonly Entrant[],
  environments: readonly Omit<Series, 'references'>[],
  { splits, pools, resamples: count, seed, worth }: HalvesOptions,
): Promise<HalvesEvaluation> {
  const all = environments.flatMap(({ records }) => records)
  const groups = nearDuplicateGroups(all)
  const resamples = groupResamples(all, count, seed, groups)
  const estimates: Estimates[][] = []
  for (const { forecaster, name } of entrants) {
    const own: Estimates[] = []
    for (const { environment, records } of environments) {
      const random = seededRandom(seed).fork(environment.familyId)
      const parts = Array.from({ length: splits }, (_, split) => {
        const [first, second] = randomHalves(records, random.fork(split))
        const part = { environment, guarded: false }
        return [
          { ...part, history: first, tested: second },
          { ...part, history: second, tested: first },
        ]
      }).flat()
      const options = { worth: withoutRanking.includes(name) ? null : worth, pools, seed, random, resamples }
      own.push(await evaluate(forecaster, parts, options))
    }
    estimates.push(own)
  }
  const results = entrants.map((entrant, index) => {
    const byEnvironment = estimates[index]!.map((own, environment) => figuresFrom(own, estimates[0]![environment]!))
    const overall = Object.fromEntries(
      comparableFigures.map(figure => [figure, meanEstimate(byEnvironment.map(figures => figures[figure]))]),
    ) as EntrantResult['overall']
    return { entrant, byEnvironment, overall }
  })
  const compared = results.filter(({ entrant }) => entrant.controls === undefined)
  return { results, differences: differencesBetween(compared, new Set(groups).size) }
}

function figuresFrom(own: Estimates, yardstick: Estimates): Figures {
  const beside = (measure: 'pinball' | 'regret') =>
    combine([own[measure], yardstick[measure]], (mine, its) => (its > 0 ? 1 - mine / its : Number.NaN))
  return { ...own, pinballSkill: beside('pinball'), regretSkill: beside('regret') }
}

/** As by rolling origin: loss and regret as shares of the mean of both. */
function differenceIn(measure: ComparedMeasure, first: Figures, second: Figures): Estimate {
  const both = [first[measure], second[measure]]
  if (measure === 'spearman') return combine(both, (one, other) => one - other)
  return combine(both, (one, other) => (one + other > 0 ? (2 * (other - one)) / (one + other) : Number.NaN))
}

/** `groups`: how many near-duplicate groups were drawn again. */
function differencesBetween(results: HalvesEvaluation['results'], groups: number): Difference[] {
  const pairs = results.flatMap((first, index) => results.slice(index + 1).map(second => [first, second] as const))
  return comparedMeasures.flatMap(measure => {
    const found = pairs.flatMap(([first, second]) => {
      const byEnvironment = first.byEnvironment.map((figures, index) =>
        differenceIn(measure, figures, second.byEnvironment[index]!),
      )
      const defined = byEnvironment.filter(({ value }) => !Number.isNaN(value))
      if (defined.length === 0) return []
      const mean = meanEstimate(defined)
      return [
        {
          measure,
          first: first.entrant.name,
          second: second.entrant.name,
          value: mean.value,
          ...intervalOf(mean),
          better: defined.filter(({ value }) => value > 0).length,
          worse: defined.filter(({ value }) => value < 0).length,
          environments: defined.length,
          p: bootstrapProbability(mean, groups),
        },
      ]
    })
    const adjusted = holm(found.map(({ p }) => p))
    return found.map((difference, index) => ({ ...difference, adjusted: adjusted[index]! }))
  })
}
