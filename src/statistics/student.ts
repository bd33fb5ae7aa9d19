/**
 * Student's t distribution, for any positive degrees of freedom, whole or not, and infinity (the normal).
 *
 * The tail is half the regularised incomplete beta function I_x(v/2, 1/2) with x = v / (v + t^2), by its continued
 * fraction (DLMF 8.17.22, evaluated with Lentz's method). About 13 digits, relative to the smaller tail.
 */
import { normalCdf, normalQuantile } from './normal.ts'

/** P(T <= t). */
export function studentCdf(t: number, degreesOfFreedom: number): number {
  refuseDegrees('studentCdf', degreesOfFreedom)
  if (Number.isNaN(t)) return Number.NaN
  return t > 0 ? 1 - lowerTail(-t, degreesOfFreedom) : lowerTail(t, degreesOfFreedom)
}

/** The t with P(T <= t) = p; minus and plus infinity at 0 and 1. */
export function studentQuantile(p: number, degreesOfFreedom: number): number {
  refuseDegrees('studentQuantile', degreesOfFreedom)
  if (!(p >= 0 && p <= 1)) throw new Error(`studentQuantile: p is ${p}; it must lie in [0, 1]`)
  if (degreesOfFreedom === Number.POSITIVE_INFINITY) return normalQuantile(p)
  if (p > 0.5) return -studentQuantile(1 - p, degreesOfFreedom)
  if (p === 0) return Number.NEGATIVE_INFINITY
  if (p === 0.5) return 0
  // Bracket the size of t, then Newton's steps, halving the bracket where one would leave it.
  let low = 0
  let high = 1
  while (lowerTail(-high, degreesOfFreedom) > p) {
    low = high
    high *= 2
    if (high === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY
  }
  let x = (low + high) / 2
  for (let step = 0; step < 200; step++) {
    const excess = lowerTail(-x, degreesOfFreedom) - p
    if (excess > 0) low = x
    else high = x
    const newton = x + excess / density(x, degreesOfFreedom)
    const next = newton > low && newton < high ? newton : (low + high) / 2
    if (Math.abs(next - x) <= 2e-16 * x) return -next
    x = next
  }
  return -x
}

/** P(T <= t) for t <= 0, accurate relative to its own size. */
function lowerTail(t: number, degrees: number): number {
  if (t === 0) return 0.5
  if (t === Number.NEGATIVE_INFINITY) return 0
  const size = -t
  if (degrees > 1e6) return normalCdf(normalEquivalent(t, degrees))
  const ratio = (size / degrees) * size
  // Both sides share size * density(size); the fraction that converges quickly is taken.
  const front = size * density(size, degrees)
  const inside = ratio === Number.POSITIVE_INFINITY ? 1 : ratio / (1 + ratio)
  if (inside < 1.5 / (degrees / 2 + 2.5)) return 0.5 - front * betaFraction(inside, 0.5, degrees / 2)
  return (front * betaFraction(1 / (1 + ratio), degrees / 2, 0.5)) / degrees
}

/** Hill's expansion (Algorithm 395, CACM 1970) to its second term: exact to rounding for a million degrees of freedom. */
function normalEquivalent(t: number, degrees: number): number {
  if (degrees === Number.POSITIVE_INFINITY) return t
  const a = degrees - 0.5
  const square = a * Math.log1p((t / degrees) * t)
  return Math.sign(t) * Math.sqrt(square) * (1 + (square + 3) / (48 * a * a))
}

function density(t: number, degrees: number): number {
  const ratio = (t / degrees) * t
  // The square of a huge t overflows while its logarithm does not.
  const logarithm = ratio < 1e300 ? Math.log1p(ratio) : 2 * Math.log(t) - Math.log(degrees)
  return (gammaRatio(degrees / 2) / Math.sqrt(degrees * Math.PI)) * Math.exp(-0.5 * (degrees + 1) * logarithm)
}

/** Gamma(a + 1/2) / Gamma(a): its asymptotic series in 1/a, reached by the recurrence; no difference of large logarithms. */
function gammaRatio(a: number): number {
  let factor = 1
  let shifted = a
  while (shifted < 20) {
    factor *= shifted / (shifted + 0.5)
    shifted += 1
  }
  const u = 1 / shifted
  const v = u * u
  const series = u * (-1 / 8 + v * (1 / 192 + v * (-1 / 640 + v * (17 / 14336 - (v * 31) / 18432))))
  return factor * Math.sqrt(shifted) * Math.exp(series)
}

/** The continued fraction K in I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) K; quick where x < (a + 1) / (a + b + 2). */
function betaFraction(x: number, a: number, b: number): number {
  const notZero = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value)
  let c = 1
  let d = 1 / notZero(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / notZero(1 + even * d)
    c = notZero(1 + even / c)
    fraction *= c * d
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / notZero(1 + odd * d)
    c = notZero(1 + odd / c)
    fraction *= c * d
    if (Math.abs(c * d - 1) < 1e-16) return fraction
  }
  return fraction
}

function refuseDegrees(what: string, degreesOfFreedom: number): void {
  if (!(degreesOfFreedom > 0)) {
    throw new Error(`${what}: there are ${degreesOfFreedom} degrees of freedom; there must be more than none`)
  }
}
