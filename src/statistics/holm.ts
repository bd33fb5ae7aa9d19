/**
 * Holm's step-down correction for several tests at once (Holm 1979): controls the chance of any false rejection,
 * whatever the dependence between the tests.
 */

/** Adjusted p-values, in the order given: reject where one is at most the level. */
export function holm(pValues: readonly number[]): number[] {
  for (const [index, p] of pValues.entries()) {
    if (!(p >= 0 && p <= 1)) throw new Error(`holm: p-value ${index} is ${p}; it must lie in [0, 1]`)
  }
  const order = pValues.map((_, index) => index).sort((i, j) => pValues[i]! - pValues[j]!)
  const adjusted = new Array<number>(pValues.length)
  let largest = 0
  for (const [rank, index] of order.entries()) {
    // Never smaller than the adjusted value of a smaller p.
    largest = Math.max(largest, Math.min(1, (pValues.length - rank) * pValues[index]!))
    adjusted[index] = largest
  }
  return adjusted
}
