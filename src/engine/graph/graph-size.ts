/**
 * How large what a graph computes is: measures for the memory that its program keeps, and for whether its work is worth dividing.
 */
import { neededTensors, type Tensor } from './graph.ts'
import { insideOf } from './loop.ts'
import { sizeOf } from './shape.ts'

/** Numbers in all tensors that are computed for some outputs, those of one iteration of a loop included. The runtime needs about half of them at once. */
export function numbersComputed(outputs: readonly Tensor[]): number {
  return computedTensors(outputs).reduce((sum, { shape }) => sum + sizeOf(shape), 0)
}

/** Multiplications in matrix products, for each operation of any kind; 0 where nothing is computed. */
export function multiplicationsPerOperation(outputs: readonly Tensor[]): number {
  const computed = computedTensors(outputs)
  const multiplications = computed.reduce((sum, { definition, inputs, shape }) => {
    const isProduct = definition.kind === 'operation' && matrixProducts.has(definition.operation)
    return isProduct ? sum + sizeOf(inputs[0]!.shape) * shape.at(-1)! : sum
  }, 0)
  return multiplications / Math.max(1, computed.length)
}

const matrixProducts = new Set(['Gemm', 'MatMul', 'FusedMatMul'])

/** Those inside of loops included, once. */
function computedTensors(outputs: readonly Tensor[]): Tensor[] {
  const bodies = new Set<object>()
  const pending = neededTensors(outputs)
  const computed: Tensor[] = []
  for (const tensor of pending) {
    const { definition } = tensor
    if (definition.kind === 'operation' || definition.kind === 'loop') computed.push(tensor)
    if (definition.kind !== 'loop' || bodies.has(definition.body)) continue
    bodies.add(definition.body)
    pending.push(...insideOf(definition.body))
  }
  return computed
}
