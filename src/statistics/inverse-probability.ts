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
  return sum(observed.map(({ value, probability }) => value * weightOf(probability))) / population
}

/**
 * Standard error of `populationMean`, each member taken as drawn on its own (Poisson sampling): sqrt(Σ (1 − p) (value / p)²) over
 * the size of the population. What was observed for certain adds nothing.
 */
export function populationError(observed: readonly Observed[], population: number): number {
  const squares = observed.map(({ value, probability }) => (1 - probability) * (value * weightOf(probability)) ** 2)
  return Math.sqrt(Math.max(0, sum(squares))) / population
}

/**
 * The same mean over the size of the population as the observations themselves tell it (Hájek 1971): Σ value / probability over
 * Σ 1 / probability. It has a little bias, lies between the values, and varies less.
 */
export function normalisedMean(observed: readonly Observed[]): number {
  const size = sum(observed.map(({ probability }) => weightOf(probability)))
  return sum(observed.map(({ value, probability }) => value * weightOf(probability))) / size
}

/** Of the standard normal distribution, 97.5 %. */
const quantile = 1.959964

/**
 * Where a share lies in 95 cases of 100, estimated by `normalisedMean` from so many equal chances (`effectiveSize`): Wilson's score
 * interval (1927), which stays within zero and one and does not close where all were alike.
 */
export function intervalOfShare(share: number, effective: number): readonly [low: number, high: number] {
  const spread = quantile ** 2 / effective
  const centre = (share + spread / 2) / (1 + spread)
  const margin = Math.sqrt(spread * share * (1 - share) + spread ** 2 / 4) / (1 + spread)
  return [Math.max(0, centre - margin), Math.min(1, centre + margin)]
}

/**
 * How many observations with equal chances would be as precise (Kish 1965): (Σ w)² / Σ w², w the inverse chances. 0 where
 * nothing was observed.
 */
export function effectiveSize(observed: readonly Pick<Observed, 'probability'>[]): number {
  const weights = observed.map(({ probability }) => weightOf(probability))
  const squares = sum(weights.map(weight => weight ** 2))
  return squares === 0 ? 0 : sum(weights) ** 2 / squares
}

function weightOf(probability: number): number {
  // Sums of chances may exceed one by rounding.
  if (!(probability > 0 && probability <= 1 + 1e-9)) {
    throw new Error(`inverse probability: the chance of an observation is ${probability}; it must lie in (0, 1]`)
  }
  return 1 / probability
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
