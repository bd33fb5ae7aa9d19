/**
 * How fast a campaign finds what there is to find: the curve of its best gain so far, and nAULC, the area under that
 * curve beside the area under an oracle's.
 */
import type { Gain } from './ranking.ts'

/** One round: the true gains of its candidates (null: would fail), and which were run, in that order. */
export interface Round {
  readonly pool: readonly Gain[]
  /** Different indices into the pool. */
  readonly chosen: readonly number[]
}

/** b_t = max(0, best gain after run t): whatever fails or does worse, the reference can be kept. */
export function bestSoFar(gains: readonly Gain[]): number[] {
  let best = 0
  return gains.map(gain => {
    best = Math.max(best, gain ?? 0)
    return best
  })
}

/**
 * nAULC = sum of b_t / sum of the oracle's b_t over the runs of all rounds. The oracle knows the gains and runs as many
 * of each round's pool, the largest first. In [0, 1]; 1 where no pool holds a positive gain, as nothing was missed.
 */
export function naulc(rounds: readonly Round[]): number {
  const oracle = rounds.map(({ pool, chosen }) => ({ pool, chosen: oracleChoice(chosen.length, pool) }))
  const best = area(oracle)
  return best === 0 ? 1 : area(rounds) / best
}

/** Indices of the k largest gains, largest first; failures last, equal gains in their order. */
export function oracleChoice(k: number, pool: readonly Gain[]): number[] {
  const worth = (index: number) => pool[index] ?? Number.NEGATIVE_INFINITY
  return pool
    .map((_, index) => index)
    .sort((i, j) => (worth(i) > worth(j) ? -1 : worth(i) < worth(j) ? 1 : i - j))
    .slice(0, k)
}

function area(rounds: readonly Round[]): number {
  const gains = rounds.flatMap(({ pool, chosen }) => {
    if (new Set(chosen).size < chosen.length)
      throw new Error(`naulc: a round runs a candidate twice: ${chosen.join(', ')}`)
    return chosen.map(index => {
      const gain = pool[index]
      if (gain === undefined) throw new Error(`naulc: candidate ${index} is not in its pool of ${pool.length}`)
      return gain
    })
  })
  return bestSoFar(gains).reduce((sum, best) => sum + best, 0)
}
