/**
 * How large what a graph computes is: a measure for the memory that its program keeps.
 */
import { neededTensors, type Tensor } from './graph.ts'
import { insideOf } from './loop.ts'
import { sizeOf } from './shape.ts'

/** Numbers in all tensors that are computed for some outputs, those of one iteration of a loop included. The runtime needs about half of them at once. */
export function numbersComputed(outputs: readonly Tensor[]): number {
  const bodies = new Set<object>()
  const pending = neededTensors(outputs)
  let numbers = 0
  for (const { definition, shape } of pending) {
    if (definition.kind === 'operation') numbers += sizeOf(shape)
    if (definition.kind !== 'loop') continue
    numbers += sizeOf(shape)
    if (bodies.has(definition.body)) continue
    bodies.add(definition.body)
    pending.push(...insideOf(definition.body))
  }
  return numbers
}
