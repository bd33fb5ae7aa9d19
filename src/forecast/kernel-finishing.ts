/**
 * The probability of finishing legally by the kernel's own sense of likeness: a regression of what finished (1) and what
 * did not (0) on the correlations of gains. Unlike a weighted share of like records it lets records explain each other
 * away, so that a crowd of half-alike ones does not drown the few that are nearly the candidate.
 */
import { conditionGaussianProcess } from '../statistics/gaussian-process.ts'
import { baseRate, type Ending } from './finishing.ts'

/** Variance of an ending around its expectation, where 1 is how far expectations vary: chance decides a part of it. */
const chance = 0.2

/** No record makes it certain. */
const least = 0.02

/**
 * `positions` are the rows of the endings in the covariance (size × size, row-major). Gives the probability for the
 * subject of a row.
 */
export function finishingByKernel(
  covariance: Float64Array,
  size: number,
  ended: readonly Ending[],
  positions: readonly number[],
): (row: number) => number {
  const deviations = new Float64Array(size)
  for (let row = 0; row < size; row++) deviations[row] = Math.sqrt(covariance[row * (size + 1)]!)
  const correlations = (row: number): Float64Array => {
    const result = new Float64Array(positions.length)
    for (let index = 0; index < result.length; index++) {
      const other = positions[index]!
      const both = deviations[row]! * deviations[other]!
      result[index] = both > 0 ? covariance[row * size + other]! / both : 0
    }
    return result
  }
  const among = new Float64Array(ended.length ** 2)
  positions.forEach((row, index) => {
    among.set(correlations(row), index * ended.length)
  })
  const base = baseRate(ended)
  const process = conditionGaussianProcess(
    among,
    new Float64Array(ended.length).fill(chance),
    Float64Array.from(ended, ({ share }) => share - base),
  )
  return row => Math.min(1 - least, Math.max(least, base + process.meanAt(correlations(row))))
}
