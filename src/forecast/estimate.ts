/**
 * A number computed from records, with its 95% bootstrap interval over them.
 */
import { bootstrapInterval, type Interval } from '../statistics/bootstrap.ts'

/** NaN where it is not defined (the rank correlation of a constant). */
export interface Estimate extends Interval {
  readonly value: number
}

export function estimate<Item>(
  items: readonly Item[],
  statistic: (chosen: readonly Item[]) => number,
  seed: number,
): Estimate {
  if (items.length === 0) return { value: Number.NaN, low: Number.NaN, high: Number.NaN }
  const resampled = (indices: Int32Array) => statistic(Array.from(indices, index => items[index]!))
  return { value: statistic(items), ...bootstrapInterval(items.length, resampled, { seed }) }
}
