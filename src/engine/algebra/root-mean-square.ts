/**
 * RMS norm (Zhang and Sennrich, 2019) over the last axis, with its derivative by hand.
 */
import type { Tensor } from '../graph/graph.ts'
import { multiply, scale, shift, subtract } from './arithmetic.ts'
import { sum } from './broadcast.ts'
import { reciprocal, sqrt, square } from './functions.ts'

/** a / sqrt(mean(a²) + epsilon). Gains are a product of its own: before a matrix they can be folded into the matrix. */
export function rootMeanSquareNorm(a: Tensor, epsilon = 1e-6): Tensor {
  const size = a.shape.at(-1)!
  const inverse = reciprocal(sqrt(shift(scale(sum(square(a), [-1]), 1 / size), epsilon)))
  const normalised = multiply(a, inverse)
  return a.graph.composite('rootMeanSquareNorm', normalised, [a], gradient => {
    const along = scale(sum(multiply(gradient, normalised), [-1]), 1 / size)
    return [multiply(inverse, subtract(gradient, multiply(normalised, along)))]
  })
}
