/**
 * The chance that a candidate finishes legally with a gain above some number, read off its five quantiles. Between them the
 * distribution is normal in pieces (straight lines from gain to normal score), and beyond them the outermost piece goes on:
 * exact where a forecast is normal.
 */
import { type Forecast, quantileLevels } from '../experiment/record.ts'
import { normalCdf, normalQuantile } from '../statistics/normal.ts'

const scores = quantileLevels.map(normalQuantile)

/** P(it finishes and gains more than `above`), in [0, 1]. Where quantiles are equal all their weight is on that one gain. */
export function chanceOfGain({ quantiles, finishes }: Pick<Forecast, 'quantiles' | 'finishes'>, above = 0): number {
  return finishes * (1 - shareUpTo(above, quantiles))
}

/** P(gain <= x), given that it finishes. */
function shareUpTo(x: number, quantiles: Forecast['quantiles']): number {
  const last = quantiles.length - 1
  // The piece that x lies on; with ties, the one behind them, so that their weight counts as reached.
  const reached = quantiles.findLastIndex(quantile => quantile <= x)
  const left = Math.min(Math.max(reached, 0), last - 1)
  const width = quantiles[left + 1]! - quantiles[left]!
  if (width === 0) return x >= quantiles[left]! ? 1 : 0
  const along = (x - quantiles[left]!) / width
  return normalCdf(scores[left]! + along * (scores[left + 1]! - scores[left]!))
}
