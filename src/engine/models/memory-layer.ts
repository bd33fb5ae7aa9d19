/**
 * A sparse key-value memory: a query is compared with the keys of all slots, and the values of the few that fit best
 * are added up with the softmax of their scores as weights. Which slots were chosen is no matter of the derivative:
 * values that were not chosen have a gradient of exactly 0, keys one through the weights alone.
 * An optimiser with a memory of its own (momentum, AdamW) goes on moving slots that were chosen before; SGD does not.
 * Product keys are shared by the slots of a row or column, so values alone are apart there.
 *
 * Cost: all keys are compared with all queries in one matrix (queries, slots), so that tens of thousands of slots want
 * product keys, whose matrices are (queries, sqrt(slots)). Gradients are as large as the tables of keys and values and
 * are written anew each time. Forward and backward at width 64 on one thread took, a query, 11 µs with 256 slots and 8
 * chosen, 33 µs with 65,536 slots by product keys and 8 chosen, and 250 µs with these and no product keys.
 */
import { add } from '../algebra/arithmetic.ts'
import { concatenate, reshape, slice } from '../algebra/arrangement.ts'
import { toFloat } from '../algebra/cast.ts'
import { lookUpRows } from '../algebra/lookup.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { softmax } from '../algebra/softmax.ts'
import { topIndices } from '../algebra/top-indices.ts'
import { requireShape, type Tensor } from '../graph/graph.ts'
import { sizeOf } from '../graph/shape.ts'
import type { MemoryConfiguration } from './memory-configuration.ts'

export interface MemoryAnswer {
  /** What is added to the hidden state: (queries, width). */
  readonly added: Tensor
  /** (queries, chosen): numbers of the slots, best first. */
  readonly slots: Tensor
  /** (queries, chosen): what their values are multiplied by; each row adds up to 1. */
  readonly weights: Tensor
}

/** Queries are (queries, width). The keys are compared with them as they are: norm them first. */
export function memoryLayer(
  { slots, chosen, productKeys = false }: MemoryConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  queries: Tensor,
): MemoryAnswer {
  const [count, width] = queries.shape as [number, number]
  const parameter = (name: string) => parameters.get(`memory.${name}`)!
  requireShape(parameter('values'), [slots, width], 'memoryLayer')
  return queries.graph.within('memory', () => {
    const { numbers, keys } = productKeys
      ? chooseByProduct(queries, parameter('firstKeys'), parameter('secondKeys'), chosen)
      : choose(queries, parameter('keys'), chosen)
    const byQuery = (rows: Tensor) => reshape(rows, [count, chosen, width])
    // The scores of the chosen are computed again, so that the derivative knows nothing of the others.
    const scores = matrixProduct(reshape(queries, [count, 1, width]), byQuery(keys), { transposeB: true })
    const weights = softmax(scores)
    const values = byQuery(lookUpRows(parameter('values'), list(numbers)))
    return {
      added: reshape(matrixProduct(weights, values), [count, width]),
      slots: toFloat(numbers),
      weights: reshape(weights, [count, chosen]),
    }
  })
}

interface Choice {
  /** (queries, chosen), whole numbers. */
  readonly numbers: Tensor
  /** (queries × chosen, width). */
  readonly keys: Tensor
}

function choose(queries: Tensor, keys: Tensor, chosen: number): Choice {
  const numbers = topIndices(matrixProduct(queries, keys, { transposeB: true }), chosen)
  return { numbers, keys: lookUpRows(keys, list(numbers)) }
}

/**
 * The best of all pairs are among the pairs of the best halves: a pair with a worse half is beaten by as many as are
 * chosen that have a better one.
 */
function chooseByProduct(queries: Tensor, firstKeys: Tensor, secondKeys: Tensor, chosen: number): Choice {
  const [count, width] = queries.shape as [number, number]
  const side = firstKeys.shape[0]!
  const kept = Math.min(chosen, side)
  const best = (keys: Tensor, start: number) => {
    const scores = matrixProduct(slice(queries, 1, start, width / 2), keys, { transposeB: true })
    const indices = topIndices(scores, kept)
    return { indices, scores: entries(scores, indices) }
  }
  const [first, second] = [best(firstKeys, 0), best(secondKeys, width / 2)]
  const sums = add(reshape(first.scores, [count, kept, 1]), reshape(second.scores, [count, 1, kept]))
  const pairs = topIndices(reshape(sums, [count, kept * kept]), chosen)
  const constant = (value: number) => queries.graph.constant([value], [1, 1], 'int64')
  const firsts = entries(first.indices, wholeNumbers('Div', pairs, constant(kept)))
  const seconds = entries(second.indices, wholeNumbers('Mod', pairs, constant(kept)))
  return {
    numbers: wholeNumbers('Add', wholeNumbers('Mul', firsts, constant(side)), seconds),
    keys: concatenate([lookUpRows(firstKeys, list(firsts)), lookUpRows(secondKeys, list(seconds))], 1),
  }
}

const list = (numbers: Tensor) => reshape(numbers, [sizeOf(numbers.shape)])

/** Entries of each row by indices that were computed. They serve to choose, so they have no derivative. */
function entries(rows: Tensor, indices: Tensor): Tensor {
  return rows.graph.operation({
    operation: 'GatherElements',
    attributes: { axis: 1 },
    inputs: [rows, indices],
    shape: indices.shape,
    type: rows.type,
  })
}

/** Of a table of whole numbers with one whole number (1, 1) or a table of the same shape. */
function wholeNumbers(operation: 'Add' | 'Mul' | 'Div' | 'Mod', a: Tensor, b: Tensor): Tensor {
  return a.graph.operation({ operation, inputs: [a, b], shape: a.shape, type: 'int64' })
}
