/**
 * Looking up by index: rows of a table, one entry of each row, and the one-hot matrix that differentiates both.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { describeShape, sameShape } from '../graph/shape.ts'
import { multiply } from './arithmetic.ts'
import { reshape } from './arrangement.ts'
import { matrixProduct } from './matrix-product.ts'

/** (n) indices → (n, size) with a 1 at each index. */
export function oneHot(indices: Tensor, size: number): Tensor {
  requireIndices(indices, size, 'oneHot')
  const { graph } = indices
  const [count] = indices.shape
  const range = Array.from({ length: size }, (_, index) => index)
  const equal = graph.operation({
    operation: 'Equal',
    inputs: [reshape(indices, [count!, 1]), graph.constant(range, [1, size], 'int32')],
    shape: [count!, size],
    type: 'bool',
  })
  return graph.operation({
    operation: 'Cast',
    attributes: { to: graph.precision === 'float32' ? 1 : 11 },
    inputs: [equal],
    shape: [count!, size],
  })
}

/**
 * Rows of a table (rows, width) by indices (n) → (n, width). The gradient is a product with the one-hot matrix: adding
 * rows in place (ScatterND) silently loses updates on several threads. At large row counts that product is dear.
 */
export function lookUpRows(table: Tensor, indices: Tensor): Tensor {
  const [rows, width] = table.shape
  if (table.shape.length !== 2) throw new Error(`lookUpRows: ${describe(table)} is not a matrix`)
  requireIndices(indices, rows!, 'lookUpRows')
  return table.graph.operation({
    operation: 'Gather',
    attributes: { axis: 0 },
    inputs: [table, indices],
    shape: [indices.shape[0]!, width!],
    derivative: gradient => [matrixProduct(oneHot(indices, rows!), gradient, { transposeA: true }), null],
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

function requireIndices(indices: Tensor, size: number, operation: string): void {
  const { definition, shape } = indices
  if (definition.kind !== 'input' || definition.below === null || shape.length !== 1)
    throw new Error(`${operation}: ${describe(indices)} is not a list of indices; make it with graph.indices`)
  if (definition.below > size)
    throw new Error(`${operation}: ${describe(indices)} may hold ${definition.below - 1}, but there are only ${size}`)
}
