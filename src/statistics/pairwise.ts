/**
 * Whether predictions put pairs of items in the right order.
 */
import { pairCounts } from './pair-counts.ts'

/** Of the pairs with different gains, those whose predictions stand in the same order; a tie in the prediction counts one half. */
export function rightPairs(
  gains: ArrayLike<number>,
  predictions: ArrayLike<number>,
): { readonly right: number; readonly pairs: number } {
  const { concordant, tiedInSecondOnly, untiedFirst } = pairCounts('rightPairs', gains, predictions)
  return { right: concordant + tiedInSecondOnly / 2, pairs: untiedFirst }
}

/** Their share; null when all gains are equal. 0.5 is what a coin gives, 1 is perfect. */
export function pairwiseAccuracy(gains: ArrayLike<number>, predictions: ArrayLike<number>): number | null {
  const { right, pairs } = rightPairs(gains, predictions)
  return pairs === 0 ? null : right / pairs
}
