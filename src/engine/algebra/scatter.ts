/**
 * Several entries of each row by index, and adding to entries by index: each is the derivative of the other.
 */
import { describe, requireShape, type Tensor } from '../graph/graph.ts'
import { zeros } from './broadcast.ts'

/** Values (n, size) by indices (n, k) → (n, k). An index may be there twice. */
export function pickSeveral(values: Tensor, indices: Tensor): Tensor {
  const [count, size] = values.shape
  if (values.shape.length !== 2) throw new Error(`pickSeveral: ${describe(values)} is not a matrix`)
  requireIndices(indices, count!, size!, 'pickSeveral')
  return values.graph.operation({
    operation: 'GatherElements',
    attributes: { axis: 1 },
    inputs: [values, indices],
    shape: indices.shape,
    derivative: gradient => [scatterSum(gradient, indices, size!), null],
  })
}

/**
 * Values (n, k) by indices (n, k) → (n, size): each is added to its entry of the row. ScatterElements adds one after the other, also
 * on several threads; ScatterND loses updates there.
 */
export function scatterSum(values: Tensor, indices: Tensor, size: number): Tensor {
  const [count] = values.shape
  requireIndices(indices, count!, size, 'scatterSum')
  requireShape(values, indices.shape, 'scatterSum')
  return values.graph.operation({
    operation: 'ScatterElements',
    attributes: { axis: 1, reduction: { text: 'add' } },
    inputs: [zeros(values.graph, [count!, size]), indices, values],
    shape: [count!, size],
    derivative: gradient => [null, null, pickSeveral(gradient, indices)],
  })
}

function requireIndices(indices: Tensor, count: number, size: number, operation: string): void {
  const { definition, shape } = indices
  if (definition.kind !== 'input' || definition.below === null || shape.length !== 2 || shape[0] !== count)
    throw new Error(`${operation}: ${describe(indices)} is not a list of indices for each of ${count} rows`)
  if (definition.below > size)
    throw new Error(`${operation}: ${describe(indices)} may hold ${definition.below - 1}, but there are only ${size}`)
}
