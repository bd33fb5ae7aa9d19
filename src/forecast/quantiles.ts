/**
 * From a centre and a spread to the quantiles of a forecast.
 */
import { type Quantiles, quantileLevels } from '../experiment/record.ts'
import { normalQuantile } from '../statistics/normal.ts'

/** Standard normal quantiles at the levels of a forecast, exactly odd. */
const upper = [normalQuantile(0.75), normalQuantile(0.9)] as const
export const standardQuantiles: Quantiles = [-upper[1], -upper[0], 0, upper[0], upper[1]]

export function normalQuantiles(centre: number, deviation: number): Quantiles {
  return mapQuantiles(level => centre + deviation * standardQuantiles[level]!)
}

/** Builds the five from a function of their index; what would decrease by rounding is held level. */
export function mapQuantiles(at: (index: number) => number): Quantiles {
  const values = quantileLevels.map((_, index) => at(index))
  for (let index = 1; index < values.length; index++) values[index] = Math.max(values[index]!, values[index - 1]!)
  if (!values.every(Number.isFinite)) throw new Error(`mapQuantiles: ${values.join(', ')} are not all finite`)
  return values as unknown as Quantiles
}
