/**
 * The standard normal distribution: distribution function and quantile, to about 13 digits, also far in the lower tail.
 */

export function normalDensity(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI)
}

/** P(Z <= x). */
export function normalCdf(x: number): number {
  if (Number.isNaN(x)) return Number.NaN
  return x > 0 ? 1 - lowerTail(-x) : lowerTail(x)
}

/** P(Z <= x) for x <= 0, accurate relative to its own size. */
function lowerTail(x: number): number {
  if (x < -39) return 0
  return x > -3 ? 0.5 + normalDensity(x) * oddSeries(x) : normalDensity(x) / millsDenominator(-x)
}

/** x + x^3/3 + x^5/(3*5) + ...: Abramowitz and Stegun 26.2.11. */
function oddSeries(x: number): number {
  let term = x
  let sum = x
  for (let odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd
    sum += term
  }
  return sum
}

/** x + 1/(x + 2/(x + 3/...)), Laplace's continued fraction (26.2.14), evaluated from its far end; 80 terms do for x >= 3. */
function millsDenominator(x: number): number {
  let denominator = x
  for (let k = 80; k >= 1; k--) denominator = x + k / denominator
  return denominator
}

/** The x with P(Z <= x) = p; minus and plus infinity at 0 and 1. */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new Error(`normalQuantile: p is ${p}; it must lie in [0, 1]`)
  if (p > 0.5) return -normalQuantile(1 - p)
  if (p === 0) return Number.NEGATIVE_INFINITY
  if (p === 0.5) return 0
  // Start from Abramowitz and Stegun 26.2.23 (error below 4.5e-4); Halley's steps triple the digits each time.
  const t = Math.sqrt(-2 * Math.log(p))
  let x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
  for (let step = 0; step < 3; step++) {
    const newton = (lowerTail(Math.min(x, 0)) - p) / normalDensity(x)
    x -= newton / (1 + (x * newton) / 2)
  }
  return x
}
