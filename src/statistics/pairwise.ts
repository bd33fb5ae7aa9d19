/**
 * Whether predictions put pairs of items in the right order. Takes time quadratic in the number of items.
 */

/** Of the pairs with different gains, those whose predictions stand in the same order; a tie in the prediction counts one half. */
export function rightPairs(
  gains: ArrayLike<number>,
  predictions: ArrayLike<number>,
): { readonly right: number; readonly pairs: number } {
  if (gains.length !== predictions.length) {
    throw new Error(`rightPairs: the two lists must be of equal length, got ${gains.length} and ${predictions.length}`)
  }
  let pairs = 0
  let right = 0
  for (let i = 0; i < gains.length; i++) {
    const gain = gains[i]!
    const prediction = predictions[i]!
    if (Number.isNaN(gain) || Number.isNaN(prediction)) {
      throw new Error(`rightPairs: item ${i} is NaN, which has no order`)
    }
    for (let j = 0; j < i; j++) {
      if (gain === gains[j]!) continue
      pairs++
      if (prediction === predictions[j]!) right += 0.5
      else if (gain > gains[j]! === prediction > predictions[j]!) right++
    }
  }
  return { right, pairs }
}

/** Their share; null when all gains are equal. 0.5 is what a coin gives, 1 is perfect. */
export function pairwiseAccuracy(gains: ArrayLike<number>, predictions: ArrayLike<number>): number | null {
  const { right, pairs } = rightPairs(gains, predictions)
  return pairs === 0 ? null : right / pairs
}
