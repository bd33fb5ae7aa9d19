/**
 * Looking up by index: rows of a table, one entry of each row, and the one-hot matrix that differentiates both.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { describeShape, sameShape } from '../graph/shape.ts'
import { multiply } from './arithmetic.ts'
import { reshape } from './arrangement.ts'
import { broadcastTo, zeros } from './broadcast.ts'
import { toFloat } from './cast.ts'
import { matrixProduct } from './matrix-product.ts'

/** (n) indices → (n, size) with a 1 at each index. */
export function oneHot(indices: Tensor, size: number): Tensor {
  requireIndices(indices, size, 'oneHot')
  const { graph } = indices
  const [count] = indices.shape
  const range = Array.from({ length: size }, (_, index) => index)
  const equal = graph.operation({
    operation: 'Equal',
    inputs: [reshape(indices, [count!, 1]), graph.constant(range, [1, size], indices.type)],
    shape: [count!, size],
    type: 'bool',
  })
  return toFloat(equal)
}

/** Up to here the product with a one-hot matrix is as fast as adding row by row (measured on one and two threads). */
const rowsByProduct = 256

/** Rows of a table (rows, width) by indices (n) → (n, width). */
export function lookUpRows(table: Tensor, indices: Tensor): Tensor {
  const [rows, width] = table.shape
  if (table.shape.length !== 2) throw new Error(`lookUpRows: ${describe(table)} is not a matrix`)
  requireIndices(indices, rows!, 'lookUpRows')
  return table.graph.operation({
    operation: 'Gather',
    attributes: { axis: 0 },
    inputs: [table, indices],
    shape: [indices.shape[0]!, width!],
    derivative: gradient => [addRows(gradient, indices, rows!), null],
  })
}

/**
 * Values (n, width) by indices (n) → (rows, width): each is added to its row; rows that no index names are exactly 0. A
 * product with the one-hot matrix where there are few rows, else ScatterElements, which adds one after the other: about
 * 8 ns an element and 4 to write a zero. ScatterND, the obvious operator, silently loses updates on several threads.
 */
export function addRows(values: Tensor, indices: Tensor, rows: number): Tensor {
  const { graph } = values
  requireIndices(indices, rows, 'addRows')
  const [count, width] = values.shape
  if (values.shape.length !== 2 || !sameShape(indices.shape, [count!]))
    throw new Error(`addRows: ${describe(values)} needs one index a row, not ${describeShape(indices.shape)}`)
  if (rows <= rowsByProduct) return matrixProduct(oneHot(indices, rows), values, { transposeA: true })
  return graph.operation({
    operation: 'ScatterElements',
    attributes: { axis: 0, reduction: { text: 'add' } },
    inputs: [zeros(graph, [rows, width!]), broadcastTo(reshape(indices, [count!, 1]), values.shape), values],
    shape: [rows, width!],
    derivative: gradient => [null, null, lookUpRows(gradient, indices)],
  })
}

/** One entry of each row: values (n, size) by indices (n) → (n, 1). */
export function pick(values: Tensor, indices: Tensor): Tensor {
  const [count, size] = values.shape
  requireIndices(indices, size!, 'pick')
  if (values.shape.length !== 2 || !sameShape(indices.shape, [count!]))
    throw new Error(`pick: ${describe(values)} needs one index a row, not ${describeShape(indices.shape)}`)
  return values.graph.operation({
    operation: 'GatherElements',
    attributes: { axis: 1 },
    inputs: [values, reshape(indices, [count!, 1])],
    shape: [count!, 1],
    derivative: gradient => [multiply(gradient, oneHot(indices, size!)), null],
  })
}

/**
 * Inputs are checked at each run against their bound; what is computed (by topIndices) holds indices by construction.
 */
function requireIndices(indices: Tensor, size: number, operation: string): void {
  const { definition, shape, type } = indices
  const below = definition.kind === 'input' ? definition.below : size
  if ((type !== 'int32' && type !== 'int64') || below === null || shape.length !== 1)
    throw new Error(`${operation}: ${describe(indices)} is not a list of indices; make it with graph.indices`)
  if (below > size)
    throw new Error(`${operation}: ${describe(indices)} may hold ${below - 1}, but there are only ${size}`)
}
