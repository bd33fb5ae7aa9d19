/**
 * Softmax and its logarithm over the last axis, and the log of the sum of exponentials, with derivatives by hand.
 */
import type { Tensor } from '../graph/graph.ts'
import { multiply, subtract } from './arithmetic.ts'
import { slice } from './arrangement.ts'
import { sum } from './broadcast.ts'
import { exp } from './functions.ts'

export function softmax(a: Tensor): Tensor {
  return a.graph.operation({
    operation: 'Softmax',
    attributes: { axis: a.shape.length - 1 },
    inputs: [a],
    shape: a.shape,
    derivative: (gradient, output) => [multiply(output, subtract(gradient, sum(multiply(gradient, output), [-1])))],
  })
}

export function logSoftmax(a: Tensor): Tensor {
  return a.graph.operation({
    operation: 'LogSoftmax',
    attributes: { axis: a.shape.length - 1 },
    inputs: [a],
    shape: a.shape,
    derivative: (gradient, output) => [subtract(gradient, multiply(exp(output), sum(gradient, [-1])))],
  })
}

/** Over the last axis, which stays with size one. Shares the work of `logSoftmax` of the same tensor. */
export function logSumExp(a: Tensor): Tensor {
  const normalised = logSoftmax(a)
  const difference = subtract(slice(a, -1, 0, 1), slice(normalised, -1, 0, 1))
  return a.graph.composite('logSumExp', difference, [a], gradient => [multiply(gradient, exp(normalised))])
}
