/**
 * Whether paired differences could be chance: the randomisation test of Fisher (1935) by turning signs. Were there nothing
 * between the two, each block's difference could as well have come out the other way round.
 */
import type { Random } from './random.ts'

/** Up to this many blocks every pattern of signs is tried; beyond, that many random ones. */
const mostEnumerated = 13
const drawnPatterns = 9999

/**
 * Two-sided p of a sum of block differences: the share of sign patterns whose sum is at least as far from 0. Exact where the blocks are
 * few, so it can never be below 2 / 2^blocks, however large the differences; 1 where there are none.
 *
 * @param differences one a block, already weighted as they enter the figure that is compared
 */
export function signFlipProbability(differences: readonly number[], random: Random): number {
  for (const [index, difference] of differences.entries()) {
    if (!Number.isFinite(difference)) {
      throw new Error(`signFlipProbability: difference ${index} is ${difference}; give finite numbers`)
    }
  }
  // A block without a difference looks the same either way.
  const sizes = differences.map(Math.abs).filter(size => size > 0)
  if (sizes.length === 0) return 1
  const total = sizes.reduce((sum, size) => sum + size, 0)
  // Rounding must not tell equal sums apart.
  const least = Math.abs(differences.reduce((sum, difference) => sum + difference, 0)) - 1e-12 * total
  if (sizes.length <= mostEnumerated) return share(2 ** sizes.length, index => patternSum(sizes, index), least)
  const drawn = share(drawnPatterns, () => randomSum(sizes, random), least)
  // The pattern that was observed is one of those that could have been.
  return (drawn * drawnPatterns + 1) / (drawnPatterns + 1)
}

function share(count: number, sumOf: (index: number) => number, least: number): number {
  let reached = 0
  for (let index = 0; index < count; index++) if (Math.abs(sumOf(index)) >= least) reached++
  return reached / count
}

function patternSum(sizes: readonly number[], pattern: number): number {
  return sizes.reduce((sum, size, bit) => sum + ((pattern >> bit) & 1 ? size : -size), 0)
}

function randomSum(sizes: readonly number[], random: Random): number {
  let sum = 0
  let bits = 0
  for (const [index, size] of sizes.entries()) {
    if (index % 32 === 0) bits = random.integer(2 ** 32)
    sum += (bits >>> (index % 32)) & 1 ? size : -size
  }
  return sum
}
