/**
 * Summaries of a list of numbers. Every function refuses an empty list; NaN in, NaN out (but for `meanDefined`).
 */

export function mean(values: ArrayLike<number>): number {
  refuseFewer(1, values, 'mean')
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  const rounded = sum / values.length
  if (!Number.isFinite(rounded)) return rounded
  // A second pass takes back the rounding of the sum: the mean of equal values is that value, their variance exactly 0.
  let residual = 0
  for (let i = 0; i < values.length; i++) residual += values[i]! - rounded
  return rounded + residual / values.length
}

/** The mean of what is defined; NaN where nothing is. */
export function meanDefined(values: readonly number[]): number {
  const defined = values.filter(value => !Number.isNaN(value))
  return defined.reduce((sum, value) => sum + value, 0) / defined.length
}

export function median(values: ArrayLike<number>): number {
  refuseFewer(1, values, 'median')
  return quantile(values, 0.5)
}

/** Linear interpolation between order statistics: type 7 of Hyndman and Fan (1996), the default of NumPy and R. */
export function quantile(values: ArrayLike<number>, p: number): number {
  refuseFewer(1, values, 'quantile')
  if (!(p >= 0 && p <= 1)) throw new Error(`quantile: p is ${p}; it must lie in [0, 1]`)
  // A typed array sorts numerically and puts NaN last.
  const sorted = Float64Array.from(values).sort()
  if (Number.isNaN(sorted[sorted.length - 1])) return Number.NaN
  const position = p * (sorted.length - 1)
  const below = Math.floor(position)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  const share = position - below
  // Not low + share * (high - low) alone: with infinities that is NaN where one end carries no weight.
  if (share === 0 || low === high) return low
  return share < 0.5 ? low + share * (high - low) : high - (1 - share) * (high - low)
}

/** Sample variance, with n - 1 in the denominator; needs two values. */
export function variance(values: ArrayLike<number>): number {
  refuseFewer(2, values, 'variance')
  const centre = mean(values)
  let squares = 0
  for (let i = 0; i < values.length; i++) squares += (values[i]! - centre) ** 2
  return squares / (values.length - 1)
}

function refuseFewer(least: number, values: ArrayLike<number>, what: string): void {
  if (values.length < least) {
    throw new Error(`${what}: needs at least ${least} ${least === 1 ? 'value' : 'values'}, got ${values.length}`)
  }
}
