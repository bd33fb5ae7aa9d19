/**
 * Averages of the weights along a run, which are measured in place of the last ones: what single steps add by chance averages
 * out. Training itself goes on from the last weights.
 */
import type { Configuration } from './options.ts'

export type Averaging = Pick<Configuration, 'weightAveraging' | 'averagingDecay' | 'averagingFraction'>

type Weights = ReadonlyMap<string, Float32Array>

/**
 * How far the average goes towards the weights after `step` (from 0) of `steps`: 0 before they count, 1 for the first that
 * do. So the exponential average has no memory of the initial weights (bias correction as Adam's).
 */
export function averagingRate(averaging: Averaging, step: number, steps: number): number {
  const { weightAveraging, averagingDecay, averagingFraction } = averaging
  if (weightAveraging === 'none') return 0
  if (weightAveraging === 'exponential') return (1 - averagingDecay) / (1 - averagingDecay ** (step + 1))
  const first = Math.min(steps - 1, steps - Math.round(averagingFraction * steps))
  return step < first ? 0 : 1 / (step - first + 1)
}

/** The average after it has gone that far towards the weights; the arrays that are given stay as they are. */
export function movedAverage(average: Weights | null, weights: Weights, rate: number): Weights {
  if (average === null) return weights
  return new Map([...weights].map(([name, values]) => [name, between(average.get(name)!, values, rate)]))
}

function between(from: Float32Array, to: Float32Array, share: number): Float32Array {
  const result = new Float32Array(from.length)
  for (let index = 0; index < result.length; index++) result[index] = from[index]! + share * (to[index]! - from[index]!)
  return result
}
