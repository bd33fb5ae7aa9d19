/**
 * Functions of one number, element by element.
 */
import type { Tensor } from '../graph/graph.ts'
import { divide, multiply, negate, scale, shift, subtract } from './arithmetic.ts'

function unary(operation: string, a: Tensor, derivative: (gradient: Tensor, output: Tensor) => Tensor): Tensor {
  return a.graph.operation({
    operation,
    inputs: [a],
    shape: a.shape,
    derivative: (gradient, output) => [derivative(gradient, output)],
  })
}

export function exp(a: Tensor): Tensor {
  return unary('Exp', a, (gradient, output) => multiply(gradient, output))
}

export function log(a: Tensor): Tensor {
  return unary('Log', a, gradient => divide(gradient, a))
}

export function sqrt(a: Tensor): Tensor {
  return unary('Sqrt', a, (gradient, output) => scale(divide(gradient, output), 0.5))
}

export function reciprocal(a: Tensor): Tensor {
  return unary('Reciprocal', a, (gradient, output) => negate(multiply(gradient, square(output))))
}

export function square(a: Tensor): Tensor {
  return multiply(a, a)
}

export function tanh(a: Tensor): Tensor {
  return unary('Tanh', a, (gradient, output) => subtract(gradient, multiply(gradient, square(output))))
}

export function sigmoid(a: Tensor): Tensor {
  return unary('Sigmoid', a, (gradient, output) => multiply(gradient, multiply(output, negate(shift(output, -1)))))
}

/** max(a, 0); its derivative at 0 is 0. */
export function relu(a: Tensor): Tensor {
  return unary('Relu', a, (gradient, output) => multiply(gradient, sign(output)))
}

/** -1, 0 or 1; its derivative is 0. */
export function sign(a: Tensor): Tensor {
  return a.graph.operation({ operation: 'Sign', inputs: [a], shape: a.shape, derivative: () => [null] })
}
