/**
 * From whole numbers and truth values to floating-point numbers. There is no derivative.
 */
import type { Tensor } from '../graph/graph.ts'

/** Whole numbers are exact up to 2^24 in single precision; true is 1. */
export function toFloat(a: Tensor): Tensor {
  const attributes = { to: a.graph.precision === 'float32' ? 1 : 11 }
  return a.graph.operation({ operation: 'Cast', attributes, inputs: [a], shape: a.shape })
}
