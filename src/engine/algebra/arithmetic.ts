/**
 * Arithmetic element by element, with NumPy's broadcasting.
 */
import { describe, type Graph, type Tensor } from '../graph/graph.ts'
import { broadcastShape } from '../graph/shape.ts'
import { sumToShape } from './broadcast.ts'

export function add(a: Tensor, b: Tensor): Tensor {
  return binary('Add', a, b, gradient => [gradient, gradient])
}

export function subtract(a: Tensor, b: Tensor): Tensor {
  return binary('Sub', a, b, gradient => [gradient, negate(gradient)])
}

export function multiply(a: Tensor, b: Tensor): Tensor {
  return binary('Mul', a, b, gradient => [multiply(gradient, b), multiply(gradient, a)])
}

export function divide(a: Tensor, b: Tensor): Tensor {
  return binary('Div', a, b, (gradient, quotient) => {
    const byA = divide(gradient, b)
    return [byA, negate(multiply(byA, quotient))]
  })
}

export function negate(a: Tensor): Tensor {
  return a.graph.operation({ operation: 'Neg', inputs: [a], shape: a.shape, derivative: g => [negate(g)] })
}

/** A tensor times a number. */
export function scale(a: Tensor, factor: number): Tensor {
  return factor === 1 ? a : multiply(a, a.graph.scalar(factor))
}

/** A tensor plus a number. */
export function shift(a: Tensor, amount: number): Tensor {
  return add(a, a.graph.scalar(amount))
}

function binary(
  operation: string,
  a: Tensor,
  b: Tensor,
  derivative: (gradient: Tensor, output: Tensor) => readonly [Tensor, Tensor],
): Tensor {
  const { graph } = a
  const shape = broadcastShape(a.shape, b.shape)
  if (!shape) throw new Error(`${operation}: ${describe(a)} and ${describe(b)} do not broadcast to one shape`)
  requireFloat(graph, operation, a, b)
  return graph.operation({
    operation,
    inputs: [a, b],
    shape,
    derivative: (gradient, output) => {
      const [byA, byB] = derivative(gradient, output)
      return [sumToShape(byA, a.shape), sumToShape(byB, b.shape)]
    },
  })
}

function requireFloat(graph: Graph, operation: string, ...inputs: readonly Tensor[]): void {
  for (const input of inputs)
    if (input.type !== graph.precision)
      throw new Error(`${operation}: ${describe(input)} holds ${input.type}, expected ${graph.precision}`)
}
