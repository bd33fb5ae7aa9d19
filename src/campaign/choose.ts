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

/** However likely it is to fail, exploration keeps this part of a chance for it: what is never run is never learned. */
const leastWeight = 0.05

/**
 * Chooses k; what the gate holds back may do without a forecast. Of the k places, `exploration · k` (a fraction is a coin toss) are
 * drawn from the candidates that are left over: those of lower rank, and all that the gate holds back, each in proportion to its
 * chance to finish. The rest go to the best that passed the gate, equal scores in random order; where too few passed, places stay
 * empty. Gives one choice a candidate, in the order of the forecasts.
 *
 * Of n candidates m pass. When e places explore, x = min(k − e, m) go to the best, and each of the n − x others has the
 * chance e w / Σ w, those that would exceed one being certain (`inclusionChances`): so with exploration every candidate has a
 * chance above zero, and it is known. Its probability is the mean over e; of equal scores each has the mean over the ranks that they
 * share, and the mean of their weights.
 */
export function choose(
  forecasts: readonly (Forecast | null)[],
  {
    choose: k,
    exploration,
    random,
    gated = new Set(),
    finishes = forecasts.map(forecast => forecast?.finishes ?? 1),
  }: {
    readonly choose: number
    readonly exploration: number
    readonly random: Random
    /** Indices of the candidates that the gate holds back: they are never chosen for their forecasts. */
    readonly gated?: ReadonlySet<number>
    /** Chance of each candidate to finish. */
    readonly finishes?: readonly number[]
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
  const ranksOf = Map.groupBy(ranking.keys(), rank => worth.get(ranking[rank]!)!)
  const weightOf = (index: number) => Math.max(leastWeight, finishes[index]!)
  const weights = forecasts.map((_, index) => {
    const equals = gated.has(index) ? [] : ranksOf.get(worth.get(index)!)!
    return equals.length === 0 ? weightOf(index) : mean(equals.map(rank => weightOf(ranking[rank]!)))
  })

  const share = exploration * places
  const fewer = Math.floor(share)
  const chanceOfMore = share - fewer
  const held = [...gated]
  /** How the places go where so many explore. */
  const drawOf = (exploring: number) => {
    const exploited = Math.min(places - exploring, ranking.length)
    const rest = [...ranking.slice(exploited), ...held]
    const chances = inclusionChances(
      rest.map(index => weights[index]!),
      Math.min(exploring, rest.length),
    )
    return { exploited, rest, chances, chanceOf: new Map(rest.map((index, place) => [index, chances[place]!])) }
  }
  const draws = [
    { draw: drawOf(fewer), weight: 1 - chanceOfMore },
    ...(chanceOfMore > 0 ? [{ draw: drawOf(fewer + 1), weight: chanceOfMore }] : []),
  ]
  const expected = (chance: (draw: ReturnType<typeof drawOf>) => number) =>
    draws.reduce((sum, { draw, weight }) => sum + weight * chance(draw), 0)

  const { exploited, rest, chances } = draws[random.uniform() < chanceOfMore ? 1 : 0]!.draw
  const best = new Set(ranking.slice(0, exploited))
  const others = new Set(systematicSample(chances, random).map(place => rest[place]!))
  return forecasts.map((_, index) => ({
    choice: best.has(index) ? 'exploited' : others.has(index) ? 'explored' : 'passed-over',
    probability: gated.has(index)
      ? expected(({ chanceOf }) => chanceOf.get(index)!)
      : mean(
          ranksOf
            .get(worth.get(index)!)!
            .map(rank => expected(({ exploited, chanceOf }) => (rank < exploited ? 1 : chanceOf.get(ranking[rank]!)!))),
        ),
  }))
}

/** Chances in proportion to the weights that add up to `count`, none above one. */
function inclusionChances(weights: readonly number[], count: number): number[] {
  const certain = new Set<number>()
  for (;;) {
    const left = count - certain.size
    const total = weights.reduce((sum, weight, index) => (certain.has(index) ? sum : sum + weight), 0)
    const chances = weights.map((weight, index) => (certain.has(index) ? 1 : (left * weight) / total))
    const above = [...chances.keys()].filter(index => !certain.has(index) && chances[index]! >= 1)
    if (above.length === 0) return chances
    for (const index of above) certain.add(index)
  }
}

/**
 * Indices drawn so that each has exactly its chance, and as many as the chances add up to: in random order they are laid end to
 * end, and a comb of teeth one apart falls on them (systematic sampling; Madow 1949).
 */
function systematicSample(chances: readonly number[], random: Random): number[] {
  const start = random.uniform()
  let reached = 0
  return random.shuffle([...chances.keys()]).filter(index => {
    const from = reached
    reached += chances[index]!
    // A tooth lies at start, start + 1, …: between the two ends there is one where their counts of teeth differ.
    return Math.ceil(reached - start - 1e-12) > Math.ceil(from - start - 1e-12)
  })
}
