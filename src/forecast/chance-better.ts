/**
 * The chance of a gain above zero that a forecast implies.
 */
import type { Forecast, Quantiles } from '../experiment/record.ts'
import { normalCdf } from '../statistics/normal.ts'
import { standardQuantiles } from './quantiles.ts'

/**
 * P(gain > 0) given that it finishes legally, by linear interpolation between the quantiles on the scale of normal deviates,
 * the outermost slopes going on beyond them: exact for a normal forecast. A forecast that is certain of zero is a coin toss.
 */
export function chanceBetter(quantiles: Quantiles): number {
  const positive = quantiles.findIndex(quantile => quantile > 0)
  // The segment that zero lies in, or the nearest one.
  const upper = positive === -1 ? 4 : Math.max(1, positive)
  const [low, high] = [quantiles[upper - 1]!, quantiles[upper]!]
  if (high > low) {
    const [from, to] = [standardQuantiles[upper - 1]!, standardQuantiles[upper]!]
    return 1 - normalCdf(from - ((to - from) * low) / (high - low))
  }
  if (high !== 0) return high > 0 ? 1 : 0
  return quantiles[0] === 0 ? 0.5 : 0.1
}

/** The chance that the run ends legally and better than its reference. */
export function chanceOfGain({ quantiles, finishes }: Forecast): number {
  return finishes * chanceBetter(quantiles)
}
