/**
 * Layer norm (Ba et al., 2016) over the last axis, with its derivative by hand.
 */
import type { Tensor } from '../graph/graph.ts'
import { multiply, scale, shift, subtract } from './arithmetic.ts'
import { sum } from './broadcast.ts'
import { reciprocal, sqrt, square } from './functions.ts'

/** (a - mean(a)) / sqrt(variance(a) + epsilon), the variance over n. Gains and biases are operations of their own. */
export function layerNorm(a: Tensor, epsilon = 1e-6): Tensor {
  const size = a.shape.at(-1)!
  const meanOf = (b: Tensor) => scale(sum(b, [-1]), 1 / size)
  const centred = subtract(a, meanOf(a))
  const inverse = reciprocal(sqrt(shift(meanOf(square(centred)), epsilon)))
  const normalised = multiply(centred, inverse)
  return a.graph.composite('layerNorm', normalised, [a], gradient => {
    const along = multiply(normalised, meanOf(multiply(gradient, normalised)))
    return [multiply(inverse, subtract(subtract(gradient, meanOf(gradient)), along))]
  })
}
