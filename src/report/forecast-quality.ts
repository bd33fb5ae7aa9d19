/**
 * How good the forecasts of this report were, in two figures: do they rank (Spearman), and do their intervals cover.
 * With few records both say little, so below `enough` no figure is given.
 */

import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { normalQuantile } from '../statistics/normal.ts'
import { spearman } from '../statistics/ranks.ts'
import type { ForecastPair, Interval } from './gain-series.ts'

/** Pairs below which rank correlation and coverage are not stated: at 10, an independent ranking still passes 0.55 in 5 % of cases. */
export const enough = 10

export interface ForecastQuality {
  readonly pairs: number
  /** Rank correlation of forecast medians and measured gains; null below `enough` pairs, or when either side is constant. */
  readonly spearman: number | null
  /** Its 95 % interval. */
  readonly spearmanInterval: Interval | null
  /** How many measured gains lie inside the forecast's 80 % interval. */
  readonly inside: number
  /** Mean absolute difference of forecast median and measured gain; null without pairs. */
  readonly meanAbsoluteError: number | null
  /** The same had every forecast said "no gain": what a forecast must beat. */
  readonly meanAbsoluteGain: number | null
}

export function forecastQuality(pairs: readonly ForecastPair[]): ForecastQuality {
  const medians = pairs.map(({ forecast }) => forecast.quantiles[2])
  const gains = pairs.map(({ gain }) => gain)
  const correlation = pairs.length >= enough ? spearman(medians, gains) : null
  const mean = (values: readonly number[]) =>
    values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    pairs: pairs.length,
    spearman: correlation,
    spearmanInterval: correlation === null ? null : correlationInterval(correlation, pairs.length),
    inside: pairs.filter(({ gain, forecast: { quantiles } }) => gain >= quantiles[0] && gain <= quantiles[4]).length,
    meanAbsoluteError: mean(pairs.map(({ gain, forecast }) => Math.abs(gain - forecast.quantiles[2]))),
    meanAbsoluteGain: mean(gains.map(Math.abs)),
  }
}

/** By Fisher's transformation with the standard error of Bonett and Wright (2000), sqrt((1 + r²/2) / (n - 3)). */
function correlationInterval(correlation: number, pairs: number): Interval {
  const half = normalQuantile(0.975) * Math.sqrt((1 + correlation ** 2 / 2) / (pairs - 3))
  const centre = Math.atanh(correlation)
  return { low: Math.tanh(centre - half), high: Math.tanh(centre + half) }
}

/** Among records with a forecast that ended with evidence: the mean forecast chance of finishing legally, and how many did. */
export function finishingQuality(
  records: readonly ExperimentRecord[],
  forecasts: ReadonlyMap<number, Forecast>,
): { readonly records: number; readonly forecast: number; readonly finished: number } | null {
  const judged = records.flatMap(record => {
    const forecast = forecasts.get(record.id)
    return forecast !== undefined && record.verdict !== null && Number.isFinite(forecast.finishes)
      ? [{ chance: forecast.finishes, finished: record.verdict !== 'failed' }]
      : []
  })
  if (judged.length === 0) return null
  return {
    records: judged.length,
    forecast: judged.reduce((sum, { chance }) => sum + chance, 0) / judged.length,
    finished: judged.filter(({ finished }) => finished).length,
  }
}
