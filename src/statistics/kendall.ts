/**
 * Kendall's rank correlation. Like `pairwise.ts` it takes time quadratic in the number of items.
 */

/**
 * Kendall's tau-b (Kendall 1945): (concordant - discordant pairs) / sqrt(pairs untied in the first · pairs untied in the second).
 * Null when either argument is constant or has fewer than two values: then there is no order to agree on.
 */
export function kendall(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  if (a.length !== b.length) {
    throw new Error(`kendall: the two lists must be of equal length, got ${a.length} and ${b.length}`)
  }
  let agreement = 0
  let untiedFirst = 0
  let untiedSecond = 0
  for (let i = 0; i < a.length; i++) {
    if (Number.isNaN(a[i]) || Number.isNaN(b[i])) throw new Error(`kendall: item ${i} is NaN, which has no order`)
    for (let j = 0; j < i; j++) {
      const first = order(a[i]!, a[j]!)
      const second = order(b[i]!, b[j]!)
      agreement += first * second
      untiedFirst += Math.abs(first)
      untiedSecond += Math.abs(second)
    }
  }
  const scale = Math.sqrt(untiedFirst) * Math.sqrt(untiedSecond)
  return scale === 0 ? null : Math.max(-1, Math.min(1, agreement / scale))
}

/** By comparison, not by subtraction: infinities have an order too. */
function order(one: number, other: number): -1 | 0 | 1 {
  return one > other ? 1 : one < other ? -1 : 0
}
