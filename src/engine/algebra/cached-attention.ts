/**
 * Attention of new positions over what their rows have seen, in the parts in which it is kept. Forward only: nothing is trained
 * step by step.
 */
import { describe, type Graph, requireShape, type Tensor } from '../graph/graph.ts'
import { alibiSlopes } from './alibi.ts'
import { add, multiply, scale } from './arithmetic.ts'
import { concatenate, reshape, split } from './arrangement.ts'
import { matrixProduct } from './matrix-product.ts'
import { softmax } from './softmax.ts'

/** Keys and values of some positions: (rows, key-value heads, capacity, channels). */
export interface AttendedPart {
  readonly keys: Tensor
  readonly values: Tensor
  /** Bool: (rows or 1, queries or 1, capacity). */
  readonly seen: Tensor
  /** Int32: (rows, capacity). Needed for ALiBi alone. */
  readonly places: Tensor
}

/** Added to the score of a key that is not seen: far enough down for a weight of exactly 0. */
const unseen = -1e30

/**
 * softmax(Q Kᵀ / sqrt(channels) + bias, over the keys that are seen) V, over the keys of all parts together. Queries are (rows, heads,
 * queries, channels); consecutive query heads share a key-value head. Every query must see a key.
 */
export function cachedAttention(
  queries: Tensor,
  parts: readonly AttendedPart[],
  /** Places of the queries, int32 (rows, queries), where scores fall with the distance (ALiBi); else null. */
  alibiPlaces: Tensor | null = null,
): Tensor {
  const [rows, heads, count, channels] = queries.shape as [number, number, number, number]
  if (queries.shape.length !== 4) throw new Error(`cachedAttention: ${describe(queries)} needs four axes`)
  const keyValueHeads = parts[0]!.keys.shape[1]!
  const sharing = heads / keyValueHeads
  const stacked = reshape(scale(queries, 1 / Math.sqrt(channels)), [rows, keyValueHeads, sharing * count, channels])
  const scores = parts.map(({ keys, values, seen, places }) => {
    const capacity = keys.shape[2]!
    requireShape(keys, [rows, keyValueHeads, capacity, channels], 'cachedAttention')
    requireShape(values, keys.shape, 'cachedAttention')
    const products = matrixProduct(stacked, keys, { transposeB: true })
    const bias = alibiPlaces ? add(limits(seen), distanceBias(heads, keyValueHeads, alibiPlaces, places)) : limits(seen)
    // Where each query head has keys of its own there is nothing to take apart.
    if (sharing === 1) return add(products, reshape(bias, without(bias.shape, 2)))
    const apart = reshape(products, [rows, keyValueHeads, sharing, count, capacity])
    return reshape(add(apart, bias), products.shape)
  })
  const weights = split(
    softmax(concatenate(scores, -1)),
    -1,
    parts.map(({ keys }) => keys.shape[2]!),
  )
  const sums = parts.map(({ values }, index) => matrixProduct(weights[index]!, values))
  return reshape(
    sums.reduce((sum, part) => add(sum, part)),
    queries.shape,
  )
}

/** (rows or 1, 1, 1, queries or 1, capacity). */
function limits(seen: Tensor): Tensor {
  const { graph } = seen
  const [rows, count, capacity] = seen.shape as [number, number, number]
  const inputs = [seen, graph.scalar(0), graph.scalar(unseen)]
  const limit = graph.operation({ operation: 'Where', inputs, shape: seen.shape })
  return reshape(limit, [rows, 1, 1, count, capacity])
}

/** -slope × (query's place - key's place): (rows, key-value heads, sharing, queries, capacity). */
function distanceBias(heads: number, keyValueHeads: number, queryPlaces: Tensor, keyPlaces: Tensor): Tensor {
  const { graph } = queryPlaces
  const [rows, count] = queryPlaces.shape as [number, number]
  const capacity = keyPlaces.shape[1]!
  const keys = reshape(asFloat(graph, keyPlaces), [keyPlaces.shape[0]!, 1, 1, 1, capacity])
  const queries = reshape(asFloat(graph, queryPlaces), [rows, 1, 1, count, 1])
  const slopes = graph.constant(alibiSlopes(heads), [1, keyValueHeads, heads / keyValueHeads, 1, 1])
  return multiply(slopes, add(keys, scale(queries, -1)))
}

function asFloat(graph: Graph, integers: Tensor): Tensor {
  const to = graph.precision === 'float32' ? 1 : 11
  return graph.operation({ operation: 'Cast', attributes: { to }, inputs: [integers], shape: integers.shape })
}

const without = (shape: readonly number[], axis: number) => shape.toSpliced(axis, 1)
