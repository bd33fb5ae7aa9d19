/**
 * Operations that move values without changing them: reshape, transpose, slice, concatenate.
 */
import { describe, type Graph, type Tensor } from '../graph/graph.ts'
import { describeShape, resolveAxis, type Shape, sameShape, sizeOf } from '../graph/shape.ts'

/** Shapes and axes are inputs of ONNX operators, as lists of 64-bit integers. */
export const integers = (graph: Graph, values: readonly number[]) => graph.constant(values, [values.length], 'int64')

export function reshape(a: Tensor, shape: Shape): Tensor {
  if (sameShape(a.shape, shape)) return a
  if (sizeOf(a.shape) !== sizeOf(shape))
    throw new Error(`reshape: ${describe(a)} has ${sizeOf(a.shape)} elements, not those of ${describeShape(shape)}`)
  // Only the last of several shapes matters.
  if (a.definition.kind === 'operation' && a.definition.operation === 'Reshape') return reshape(a.inputs[0]!, shape)
  return a.graph.operation({
    operation: 'Reshape',
    inputs: [a, integers(a.graph, shape)],
    shape,
    type: a.type,
    derivative: gradient => [reshape(gradient, a.shape), null],
  })
}

/** Axis i of the result is axis `order[i]` of the input. */
export function transpose(a: Tensor, order: readonly number[]): Tensor {
  if (order.length !== a.shape.length || new Set(order).size !== order.length)
    throw new Error(`transpose: ${describeShape(order)} is not an order of the axes of ${describe(a)}`)
  const axes = order.map(axis => resolveAxis(axis, a.shape, 'transpose'))
  // Where only axes of size one move, every value stays where it is.
  const moving = axes.filter(axis => a.shape[axis]! > 1)
  if (moving.every((axis, position) => position === 0 || moving[position - 1]! < axis))
    return reshape(
      a,
      axes.map(axis => a.shape[axis]!),
    )
  return a.graph.operation({
    operation: 'Transpose',
    attributes: { perm: axes },
    inputs: [a],
    shape: axes.map(axis => a.shape[axis]!),
    type: a.type,
    derivative: gradient => [
      transpose(
        gradient,
        axes.map((_, axis) => axes.indexOf(axis)),
      ),
    ],
  })
}

/** `size` entries of an axis from `start` on. */
export function slice(a: Tensor, axis: number, start: number, size: number): Tensor {
  const resolved = resolveAxis(axis, a.shape, 'slice')
  if (start < 0 || size < 1 || start + size > a.shape[resolved]!)
    throw new Error(`slice: ${describe(a)} has no entries ${start} to ${start + size - 1} on axis ${resolved}`)
  if (size === a.shape[resolved]) return a
  const bounds = [start, start + size, resolved].map(value => integers(a.graph, [value]))
  return a.graph.operation({
    operation: 'Slice',
    inputs: [a, ...bounds],
    shape: a.shape.with(resolved, size),
    type: a.type,
    derivative: gradient => [{ part: gradient, axis: resolved, start }, null, null, null],
  })
}

/** Consecutive slices of an axis, of the given sizes. */
export function split(a: Tensor, axis: number, sizes: readonly number[]): Tensor[] {
  const resolved = resolveAxis(axis, a.shape, 'split')
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total !== a.shape[resolved])
    throw new Error(
      `split: sizes ${describeShape(sizes)} add up to ${total}, not to axis ${resolved} of ${describe(a)}`,
    )
  let start = 0
  return sizes.map(size => {
    start += size
    return slice(a, resolved, start - size, size)
  })
}

export function concatenate(parts: readonly Tensor[], axis: number): Tensor {
  const first = parts[0]
  if (!first) throw new Error('concatenate: there is nothing to concatenate')
  if (parts.length === 1) return first
  const resolved = resolveAxis(axis, first.shape, 'concatenate')
  for (const part of parts)
    if (!sameShape(part.shape.toSpliced(resolved, 1), first.shape.toSpliced(resolved, 1)) || part.type !== first.type)
      throw new Error(`concatenate: ${describe(part)} does not fit ${describe(first)} along axis ${resolved}`)
  const sizes = parts.map(part => part.shape[resolved]!)
  return first.graph.operation({
    operation: 'Concat',
    attributes: { axis: resolved },
    inputs: parts,
    shape: first.shape.with(
      resolved,
      sizes.reduce((sum, size) => sum + size, 0),
    ),
    type: first.type,
    derivative: gradient => split(gradient, resolved, sizes),
  })
}
