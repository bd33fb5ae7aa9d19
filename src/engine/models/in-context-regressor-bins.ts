/**
 * A distribution of a number over bins, each of them uniform within (the Riemann distribution of Müller et al., 2022,
 * without its tails: what lies outside counts as of the nearest bin). Borders are one more than there are bins and
 * rise; log-probabilities are in nats, one a bin.
 */
import { described } from '../required-types.ts'

/** Bins of equal width from `low` to `high`. */
export function binBorders(low: number, high: number, bins: number): Float64Array {
  if (!(Number.isFinite(low) && Number.isFinite(high) && low < high))
    throw new Error(`binBorders: the range goes from ${low} to ${high}: expected two numbers, the first smaller`)
  checkBins('binBorders', bins)
  return Float64Array.from({ length: bins + 1 }, (_, border) => low + ((high - low) * border) / bins)
}

/**
 * Bins that hold equally many of some values, drawn from what is known beforehand: narrow where numbers are likely. The
 * outermost borders are the smallest and the largest value.
 */
export function equalMassBorders(values: readonly number[], bins: number): Float64Array {
  checkBins('equalMassBorders', bins)
  const sorted = Float64Array.from(values).sort()
  const borders = Float64Array.from({ length: bins + 1 }, (_, border) => {
    const place = ((sorted.length - 1) * border) / bins
    const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
    return below + (above - below) * (place - Math.floor(place))
  })
  for (let bin = 0; bin < bins; bin++)
    if (!(borders[bin]! < borders[bin + 1]!) || !Number.isFinite(borders[bin + 1]! - borders[bin]!))
      throw new Error(
        `equalMassBorders: ${values.length} values do not fill ${bins} bins: bin ${bin} would go from ` +
          `${borders[bin]} to ${borders[bin + 1]}; take fewer bins, or more different values`,
      )
  return borders
}

/** The bin that holds a value; a border belongs to the bin above it. */
export function binOf(value: number, borders: Float64Array): number {
  if (Number.isNaN(value)) throw new Error('binOf: the value is NaN')
  let [low, high] = [0, borders.length - 2]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (borders[middle]! <= value) low = middle
    else high = middle - 1
  }
  return low
}

export function mean(logProbabilities: ArrayLike<number>, borders: Float64Array): number {
  checkLength('mean', logProbabilities, borders)
  let sum = 0
  let total = 0
  for (let bin = 0; bin < logProbabilities.length; bin++) {
    const probability = Math.exp(logProbabilities[bin]!)
    total += probability
    sum += (probability * (borders[bin]! + borders[bin + 1]!)) / 2
  }
  return sum / total
}

/** The number that a draw falls below with probability p, from 0 to 1. */
export function quantile(logProbabilities: ArrayLike<number>, borders: Float64Array, p: number): number {
  checkLength('quantile', logProbabilities, borders)
  if (!(p >= 0 && p <= 1)) throw new Error(`quantile: p is ${described(p)}: expected a number from 0 to 1`)
  const probabilities = Array.from(logProbabilities, Math.exp)
  let left = p * probabilities.reduce((sum, probability) => sum + probability, 0)
  let last = 0
  for (const [bin, probability] of probabilities.entries()) {
    if (probability === 0) continue
    last = bin
    if (left <= probability) {
      const [low, high] = [borders[bin]!, borders[bin + 1]!]
      return low + ((high - low) * left) / probability
    }
    left -= probability
  }
  return borders[last + 1]!
}

/**
 * Of a value, in nats: densities of distributions over different bins can be compared, probabilities of bins cannot.
 */
export function logDensity(logProbabilities: ArrayLike<number>, borders: Float64Array, value: number): number {
  checkLength('logDensity', logProbabilities, borders)
  const bin = binOf(value, borders)
  return logProbabilities[bin]! - Math.log(borders[bin + 1]! - borders[bin]!)
}

function checkBins(operation: string, bins: number): void {
  if (!(Number.isInteger(bins) && bins > 0))
    throw new Error(`${operation}: bins is ${described(bins)}: expected a positive whole number`)
}

function checkLength(operation: string, logProbabilities: ArrayLike<number>, borders: Float64Array): void {
  if (logProbabilities.length !== borders.length - 1)
    throw new Error(
      `${operation}: there are ${logProbabilities.length} log-probabilities and ${borders.length} borders: ` +
        'expected one more border',
    )
}
