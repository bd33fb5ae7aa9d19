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
 * Chooses k. Of the k places, `exploration · k` (a fraction is a coin toss) are drawn uniformly from the candidates
 * that the ranking leaves over; the rest go to the best, equal scores in random order. Gives one choice a candidate, in the order
 * of the forecasts.
 *
 * A candidate of rank r is chosen with probability Σ_e P(e) · [r < k − e ? 1 : e / (n − k + e)], e the places that explore;
 * of equal scores each has the mean over the ranks that they share.
 */
export function choose(
  forecasts: readonly Forecast[],
  { choose: k, exploration, random }: { choose: number; exploration: number; random: Random },
): Choice[] {
  const n = forecasts.length
  const places = Math.min(k, n)
  const worth = scores(forecasts)
  const ranking = random.shuffle(forecasts.map((_, index) => index)).sort((a, b) => worth[b]! - worth[a]!)

  const share = exploration * places
  const fewer = Math.floor(share)
  const chanceOfMore = share - fewer
  const exploring = fewer + (random.uniform() < chanceOfMore ? 1 : 0)

  const chanceAt = (rank: number, e: number) => (rank < places - e ? 1 : n === places - e ? 0 : e / (n - places + e))
  const probability = (rank: number) =>
    (1 - chanceOfMore) * chanceAt(rank, fewer) + (chanceOfMore > 0 ? chanceOfMore * chanceAt(rank, fewer + 1) : 0)

  const best = new Set(ranking.slice(0, places - exploring))
  const others = new Set(random.sample(ranking.slice(places - exploring), exploring))
  const chancesOf = Map.groupBy(ranking.keys(), rank => worth[ranking[rank]!]!)
  return forecasts.map((_, index) => ({
    choice: best.has(index) ? 'exploited' : others.has(index) ? 'explored' : 'passed-over',
    probability: mean(chancesOf.get(worth[index]!)!.map(probability)),
  }))
}
