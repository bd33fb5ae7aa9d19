/**
 * Which entries of a row are largest. Indices have no derivative: what is looked up by them has.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { integers } from './arrangement.ts'

/**
 * Values (n, size) → (n, count) whole numbers (int64), the largest entry's first; of equal ones the earlier comes
 * first.
 */
export function topIndices(values: Tensor, count: number): Tensor {
  const [rows, size] = values.shape
  if (values.shape.length !== 2 || count < 1 || count > size!)
    throw new Error(`topIndices: ${describe(values)} has no ${count} entries in each row to choose`)
  return values.graph.operation({
    operation: 'TopK',
    attributes: { axis: 1 },
    output: 1,
    inputs: [values, integers(values.graph, [count])],
    shape: [rows!, count],
    type: 'int64',
  })
}
