/**
 * Whether predictions put pairs of items in the right order. Takes time quadratic in the number of items.
 */

/**
 * Share of the pairs with different gains whose predictions stand in the same order; a tie in the prediction counts one
 * half. Null when all gains are equal. 0.5 is what a coin gives, 1 is perfect.
 */
export function pairwiseAccuracy(gains: ArrayLike<number>, predictions: ArrayLike<number>): number | null {
  if (gains.length !== predictions.length) {
    throw new Error(
      `pairwiseAccuracy: the two lists must be of equal length, got ${gains.length} and ${predictions.length}`,
    )
  }
  let pairs = 0
  let right = 0
  for (let i = 0; i < gains.length; i++) {
    const gain = gains[i]!
    const prediction = predictions[i]!
    if (Number.isNaN(gain) || Number.isNaN(prediction)) {
      throw new Error(`pairwiseAccuracy: item ${i} is NaN, which has no order`)
    }
    for (let j = 0; j < i; j++) {
      if (gain === gains[j]!) continue
      pairs++
      if (prediction === predictions[j]!) right += 0.5
      else if (gain > gains[j]! === prediction > predictions[j]!) right++
    }
  }
  return pairs === 0 ? null : right / pairs
}
