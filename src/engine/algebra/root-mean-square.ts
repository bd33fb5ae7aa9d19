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
  const [normalised, inverse] = a.graph.precision === 'float32' ? atOnce(a, epsilon) : inParts(a, epsilon)
  return a.graph.composite('rootMeanSquareNorm', normalised, [a], gradient => {
    const along = scale(sum(multiply(gradient, normalised), [-1]), 1 / size)
    return [multiply(inverse, subtract(gradient, multiply(normalised, along)))]
  })
}

/** By the runtime's own operator, in two thirds of the time, which has no double version. */
function atOnce(a: Tensor, epsilon: number): [Tensor, Tensor] {
  const { graph, shape } = a
  const size = shape.at(-1)!
  const norm = {
    operation: 'SimplifiedLayerNormalization',
    attributes: { axis: shape.length - 1, epsilon: { float: epsilon } },
    inputs: [a, graph.constant(new Array<number>(size).fill(1), [size])],
  }
  const inverse = graph.operation({ ...norm, output: 1, shape: shape.with(-1, 1) })
  return [graph.operation({ ...norm, shape }), inverse]
}

function inParts(a: Tensor, epsilon: number): [Tensor, Tensor] {
  const size = a.shape.at(-1)!
  const inverse = reciprocal(sqrt(shift(scale(sum(square(a), [-1]), 1 / size), epsilon)))
  return [multiply(a, inverse), inverse]
}
