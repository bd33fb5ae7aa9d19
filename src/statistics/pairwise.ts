/**
 * Pairs of items and whether two scores put them in the same order. Takes time quadratic in the number of items.
 */

export interface PairCounts {
  /** Both scores differ, and agree on the order. */
  readonly concordant: number
  /** Both scores differ, and disagree on the order. */
  readonly discordant: number
  /** Tied in the first score only. */
  readonly tiedFirst: number
  /** Tied in the second score only. */
  readonly tiedSecond: number
  readonly tiedBoth: number
}

export function countPairs(first: ArrayLike<number>, second: ArrayLike<number>): PairCounts {
  if (first.length !== second.length) {
    throw new Error(`countPairs: the two scores must be of equal length, got ${first.length} and ${second.length}`)
  }
  let concordant = 0
  let discordant = 0
  let tiedFirst = 0
  let tiedSecond = 0
  let tiedBoth = 0
  for (let i = 0; i < first.length; i++) {
    const a = first[i]!
    const b = second[i]!
    if (Number.isNaN(a) || Number.isNaN(b)) throw new Error(`countPairs: item ${i} is NaN, which has no order`)
    for (let j = 0; j < i; j++) {
      const equalFirst = a === first[j]!
      const equalSecond = b === second[j]!
      if (equalFirst && equalSecond) tiedBoth++
      else if (equalFirst) tiedFirst++
      else if (equalSecond) tiedSecond++
      else if (a > first[j]! === b > second[j]!) concordant++
      else discordant++
    }
  }
  return { concordant, discordant, tiedFirst, tiedSecond, tiedBoth }
}

/**
 * Share of the pairs with different gains whose predictions stand in the same order; a tie in the prediction counts one
 * half. Null when all gains are equal. 0.5 is what a coin gives, 1 is perfect.
 */
export function pairwiseAccuracy(gains: ArrayLike<number>, predictions: ArrayLike<number>): number | null {
  const { concordant, discordant, tiedSecond } = countPairs(gains, predictions)
  const pairs = concordant + discordant + tiedSecond
  return pairs === 0 ? null : (concordant + tiedSecond / 2) / pairs
}
