/**
 * How good stated quantiles are: pinball loss (Koenker and Bassett 1978), and how often intervals hold what they should.
 */

/** Loss of one prediction of the quantile at `level`: level (y - q) above it, (1 - level) (q - y) below. */
export function pinballLoss(observed: number, predicted: number, level: number): number {
  if (!(level > 0 && level < 1)) throw new Error(`pinballLoss: level is ${level}; it must lie between 0 and 1`)
  const difference = observed - predicted
  return Math.max(level * difference, (level - 1) * difference)
}

/** Mean loss over items and levels; `predicted[i][j]` is the quantile of item i at `levels[j]`. At 0.5 it is half the absolute error. */
export function meanPinballLoss(
  observed: ArrayLike<number>,
  predicted: readonly ArrayLike<number>[],
  levels: readonly number[],
): number {
  refuseUnequal('meanPinballLoss', observed.length, predicted.length)
  let sum = 0
  for (const [i, quantiles] of predicted.entries()) {
    refuseUnequal('meanPinballLoss', quantiles.length, levels.length)
    for (const [j, level] of levels.entries()) sum += pinballLoss(observed[i]!, quantiles[j]!, level)
  }
  return sum / (predicted.length * levels.length)
}

/** Share of the observed values inside their closed intervals. */
export function coverage(observed: ArrayLike<number>, low: ArrayLike<number>, high: ArrayLike<number>): number {
  refuseUnequal('coverage', observed.length, low.length)
  refuseUnequal('coverage', observed.length, high.length)
  let inside = 0
  for (let i = 0; i < observed.length; i++) if (observed[i]! >= low[i]! && observed[i]! <= high[i]!) inside++
  return inside / observed.length
}

function refuseUnequal(what: string, first: number, second: number): void {
  if (first !== second || first === 0) {
    throw new Error(
      `${what}: the lists have ${first} and ${second} entries; they must be of equal length, and not empty`,
    )
  }
}
