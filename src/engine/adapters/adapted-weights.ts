/**
 * A matrix with its low-rank adapter is W + (alpha / rank) A B: in a graph, for training, and in values, to sample or
 * to export a model that has no adapters any more.
 */
import { add, scale } from '../algebra/arithmetic.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import type { Adapters } from '../engine.ts'
import type { Tensor } from '../graph/graph.ts'
import { adapterA, adapterB, adapterScale } from './adapter-parameters.ts'

/**
 * The tensors that a model is built from: the base's, with the adapter added to each matrix that has one among
 * `trained` (by the names of `adapterParameters`). The gradient of A and B passes through that of the whole matrix,
 * which is computed but never an output: a step saves the memory of gradients and optimisers, not the third of the work
 * that the base's gradients take.
 */
export function withAdapters(
  base: ReadonlyMap<string, Tensor>,
  trained: ReadonlyMap<string, Tensor>,
  adapters: Adapters,
): Map<string, Tensor> {
  return new Map(
    [...base].map(([name, weight]) => {
      const a = trained.get(adapterA(name))
      const b = trained.get(adapterB(name))
      if (!a || !b) return [name, weight]
      return [name, add(weight, scale(matrixProduct(a, b), adapterScale(adapters)))]
    }),
  )
}

/**
 * The values of a model without adapters that computes what the adapted one does, up to rounding. `values` holds base
 * and adapters; arrays of parameters without an adapter are shared, not copied.
 */
export function mergeAdapters(
  values: ReadonlyMap<string, Float32Array>,
  adapters: Adapters,
): Map<string, Float32Array> {
  const merged = new Map<string, Float32Array>()
  for (const [name, weight] of values) {
    if (name.endsWith('.adapter.a') || name.endsWith('.adapter.b')) continue
    const a = values.get(adapterA(name))
    const b = values.get(adapterB(name))
    merged.set(name, a && b ? sumWithProduct(name, weight, a, b, adapters) : weight)
  }
  return merged
}

function sumWithProduct(
  name: string,
  weight: Float32Array,
  a: Float32Array,
  b: Float32Array,
  adapters: Adapters,
): Float32Array {
  const { rank } = adapters
  const inputs = a.length / rank
  const outputs = b.length / rank
  if (inputs * outputs !== weight.length)
    throw new Error(
      `mergeAdapters: adapters of ${a.length} and ${b.length} values at rank ${rank} do not fit the ` +
        `${weight.length} of ${name}`,
    )
  const scale = adapterScale(adapters)
  const result = new Float32Array(weight.length)
  const row = new Float64Array(outputs)
  for (let input = 0; input < inputs; input++) {
    row.fill(0)
    for (let inner = 0; inner < rank; inner++) {
      const factor = scale * a[input * rank + inner]!
      for (let output = 0; output < outputs; output++) row[output]! += factor * b[inner * outputs + output]!
    }
    for (let output = 0; output < outputs; output++) {
      const index = input * outputs + output
      result[index] = weight[index]! + row[output]!
    }
  }
  return result
}
