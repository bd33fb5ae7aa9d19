/**
 * Where a number lies on its option's own axis, so that distances mean the same for learning rates, betas and depths:
 * the data decide between logit (all within (0, 1): rates, momenta, fractions), logarithm (not negative: sizes) and the
 * plain number, and the typical change in the history is one unit.
 */
import { median } from '../statistics/summary.ts'

export type OptionScale = (value: number) => number

/** So many typical changes away is out of sight; squares of distances stay numbers. */
const farthest = 1e6

/**
 * `values` are the numbers seen, `steps` the changes of the history as pairs [from, to]. Null where no number was ever
 * changed to another: then there is nothing to say how far apart two values are.
 */
export function optionScale(
  values: readonly number[],
  steps: readonly (readonly [number, number])[],
): OptionScale | null {
  if (steps.length === 0) return null
  const axis = axisOf(values)
  const lengths = steps
    .map(([from, to]) => Math.abs(axis(to) - axis(from)))
    .filter(length => length > 0 && length < Number.POSITIVE_INFINITY)
  const unit = lengths.length === 0 ? 1 : median(lengths)
  return value => Math.max(-farthest, Math.min(farthest, axis(value) / unit))
}

/** A value outside what was seen is pulled to just beyond its edge, where a logarithm would have no answer. */
function axisOf(values: readonly number[]): OptionScale {
  if (values.some(value => value < 0)) return value => value
  const positive = values.filter(value => value > 0)
  if (positive.length === 0) return value => value
  const smallest = positive.reduce((first, second) => Math.min(first, second))
  // Where zero occurs it is a setting like others: a little below the smallest rate, not infinitely far.
  const floor = smallest / 4
  if (positive.every(value => value < 1)) {
    const largest = positive.reduce((first, second) => Math.max(first, second))
    const ceiling = 1 - (1 - largest) / 4
    return value => {
      const inside = Math.min(Math.max(value, floor), ceiling)
      return Math.log(inside / (1 - inside))
    }
  }
  return value => Math.log(Math.max(value, floor))
}
