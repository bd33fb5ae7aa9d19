/**
 * Means and totals, made of sums.
 */
import type { Tensor } from '../graph/graph.ts'
import { sizeOf } from '../graph/shape.ts'
import { scale } from './arithmetic.ts'
import { reshape } from './arrangement.ts'
import { sum } from './broadcast.ts'

/** Over some axes, which stay with size one. */
export function mean(a: Tensor, axes: readonly number[]): Tensor {
  const total = sum(a, axes)
  return scale(total, sizeOf(total.shape) / sizeOf(a.shape))
}

/** The sum of all elements, a scalar. */
export function total(a: Tensor): Tensor {
  return reshape(
    sum(
      a,
      a.shape.map((_, axis) => axis),
    ),
    [],
  )
}
