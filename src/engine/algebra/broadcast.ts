/**
 * Sums over axes and broadcasting: each is the derivative of the other.
 */
import { describe, type Graph, type Tensor } from '../graph/graph.ts'
import { broadcastShape, describeShape, resolveAxis, type Shape, sameShape } from '../graph/shape.ts'
import { integers, reshape } from './arrangement.ts'

/** Summed axes stay, with size one, so that the result broadcasts against its input. */
export function sum(a: Tensor, axes: readonly number[]): Tensor {
  const resolved = axes.map(axis => resolveAxis(axis, a.shape, 'sum'))
  return a.graph.operation({
    operation: 'ReduceSum',
    attributes: { keepdims: 1 },
    inputs: [a, integers(a.graph, resolved)],
    shape: a.shape.map((size, axis) => (resolved.includes(axis) ? 1 : size)),
    derivative: gradient => [broadcastTo(gradient, a.shape), null],
  })
}

export function broadcastTo(a: Tensor, shape: Shape): Tensor {
  if (sameShape(a.shape, shape)) return a
  const joint = broadcastShape(a.shape, shape)
  if (!joint || !sameShape(joint, shape))
    throw new Error(`broadcastTo: ${describe(a)} does not broadcast to ${describeShape(shape)}`)
  return a.graph.operation({
    operation: 'Expand',
    inputs: [a, integers(a.graph, shape)],
    shape,
    type: a.type,
    derivative: gradient => [sumToShape(gradient, a.shape), null],
  })
}

export function zeros(graph: Graph, shape: Shape): Tensor {
  return broadcastTo(graph.scalar(0), shape)
}

/** Undoes broadcasting: sums over the axes that were stretched. */
export function sumToShape(a: Tensor, shape: readonly number[]): Tensor {
  if (sameShape(a.shape, shape)) return a
  const added = a.shape.length - shape.length
  const stretched = a.shape.flatMap((size, axis) =>
    axis < added || (shape[axis - added] === 1 && size > 1) ? [axis] : [],
  )
  return reshape(stretched.length > 0 ? sum(a, stretched) : a, shape)
}
