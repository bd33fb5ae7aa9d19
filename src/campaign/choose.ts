/**
 * Which few candidates to run: the best by forecast, and now and then one that the forecast would not have picked, so
 * that there are records of what it thinks little of. Pure: the chance of each choice is known exactly and stored with it,
 * for whoever weights by it.
 */
import type { Forecast } from '../experiment/record.ts'
import type { Random } from '../statistics/random.ts'
import { mean } from '../statistics/summary.ts'

export interface Choice {
  readonly choice: 'exploited' | 'explored' | 'passed-over'
  /** Probability that the rule runs this candidate, over all its draws, given the forecasts. */
  readonly probability: number
}

/**
 * Worth of each candidate: its median gain weighted by its chance of finishing. A failure costs a run and brings
 * nothing, so it counts as the worst median on offer, or as no gain where all medians are positive.
 */
export function scores(forecasts: readonly Forecast[]): number[] {
  const worst = Math.min(0, ...forecasts.map(forecast => forecast.quantiles[2]))
  return forecasts.map(({ quantiles, finishes }) => finishes * quantiles[2] + (1 - finishes) * worst)
}

/**
 * Chooses k; what the gate holds back may do without a forecast. Of the k places, `exploration · k` (a fraction is a coin toss) are drawn uniformly from the candidates that
 * are left over: those of lower rank, and all that the gate holds back. The rest go to the best that passed the gate, equal
 * scores in random order; where too few passed, places stay empty. Gives one choice a candidate, in the order of the
 * forecasts.
 *
 * Of n candidates m pass. When e places explore, x = min(k − e, m) go to the best, and each of the n − x others has the
 * chance min(e, n − x) / (n − x): so with exploration every candidate has a chance above zero, and it is known. Its
 * probability is the mean over e; of equal scores each has the mean over the ranks that they share.
 */
export function choose(
  forecasts: readonly (Forecast | null)[],
  {
    choose: k,
    exploration,
    random,
    gated = new Set(),
  }: {
    readonly choose: number
    readonly exploration: number
    readonly random: Random
    /** Indices of the candidates that the gate holds back: their chance is the same whatever their forecasts. */
    readonly gated?: ReadonlySet<number>
  },
): Choice[] {
  const n = forecasts.length
  const places = Math.min(k, n)
  const passed = [...forecasts.keys()].filter(index => !gated.has(index))
  const passedScores = scores(passed.map(index => forecasts[index]!))
  const worth = new Map(passed.map((index, place) => [index, passedScores[place]!]))
  const ranking = random
    .shuffle(forecasts.map((_, index) => index))
    .filter(index => worth.has(index))
    .sort((a, b) => worth.get(b)! - worth.get(a)!)

  const share = exploration * places
  const fewer = Math.floor(share)
  const chanceOfMore = share - fewer
  const exploring = fewer + (random.uniform() < chanceOfMore ? 1 : 0)

  const exploited = (e: number) => Math.min(places - e, ranking.length)
  const chanceOfRest = (e: number) => {
    const rest = n - exploited(e)
    return rest === 0 ? 0 : Math.min(e, rest) / rest
  }
  const expected = (chance: (e: number) => number) =>
    (1 - chanceOfMore) * chance(fewer) + (chanceOfMore > 0 ? chanceOfMore * chance(fewer + 1) : 0)
  const probability = (rank: number) => expected(e => (rank < exploited(e) ? 1 : chanceOfRest(e)))

  const best = new Set(ranking.slice(0, exploited(exploring)))
  const rest = [...ranking.slice(best.size), ...gated]
  const others = new Set(random.sample(rest, Math.min(exploring, rest.length)))
  const chancesOf = Map.groupBy(ranking.keys(), rank => worth.get(ranking[rank]!)!)
  return forecasts.map((_, index) => ({
    choice: best.has(index) ? 'exploited' : others.has(index) ? 'explored' : 'passed-over',
    probability: gated.has(index) ? expected(chanceOfRest) : mean(chancesOf.get(worth.get(index)!)!.map(probability)),
  }))
}
