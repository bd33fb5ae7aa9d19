/**
 * Kendall's rank correlation.
 */
import { pairCounts } from './pair-counts.ts'

/**
 * Kendall's tau-b (Kendall 1945): (concordant - discordant pairs) / sqrt(pairs untied in the first · pairs untied in the second).
 * Null when either argument is constant or has fewer than two values: then there is no order to agree on.
 */
export function kendall(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  const { concordant, discordant, untiedFirst, untiedSecond } = pairCounts('kendall', a, b)
  const scale = Math.sqrt(untiedFirst) * Math.sqrt(untiedSecond)
  return scale === 0 ? null : Math.max(-1, Math.min(1, (concordant - discordant) / scale))
}
