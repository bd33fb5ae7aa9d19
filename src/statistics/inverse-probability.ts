/**
 * Means over a whole population of which only some were observed, each with a known chance that need not be the same
 * (Horvitz and Thompson, JASA 1952): what was observed stands for all that had no luck.
 */

/** What was observed, and the chance with which it would be. */
export interface Observed {
  readonly value: number
  /** In (0, 1]. */
  readonly probability: number
}

/**
 * Σ value / probability over the size of the population: its mean, without bias whatever the chances, as long as every member
 * has one above zero. Unbiased is not precise: a rare observation counts for many (see `effectiveSize`), and an estimate of a
 * share may lie above one.
 */
export function populationMean(observed: readonly Observed[], population: number): number {
  if (!(population >= observed.length && population > 0)) {
    throw new Error(
      `populationMean: ${observed.length} were observed of a population of ${population}; it cannot be smaller, or empty`,
    )
  }
  let sum = 0
  for (const { value, probability } of observed) sum += value * weightOf(probability)
  return sum / population
}

/**
 * How many observations with equal chances would be as precise (Kish 1965): (Σ w)² / Σ w², w the inverse chances. 0 where
 * nothing was observed.
 */
export function effectiveSize(observed: readonly Pick<Observed, 'probability'>[]): number {
  let sum = 0
  let squares = 0
  for (const { probability } of observed) {
    const weight = weightOf(probability)
    sum += weight
    squares += weight ** 2
  }
  return squares === 0 ? 0 : sum ** 2 / squares
}

function weightOf(probability: number): number {
  // Sums of chances may exceed one by rounding.
  if (!(probability > 0 && probability <= 1 + 1e-9)) {
    throw new Error(`inverse probability: the chance of an observation is ${probability}; it must lie in (0, 1]`)
  }
  return 1 / probability
}
