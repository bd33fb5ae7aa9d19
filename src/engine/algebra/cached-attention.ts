/**
 * Attention of new positions over what their rows have seen, in the parts in which it is kept. Forward only: nothing is trained
 * step by step.
 */
import { describe, type Graph, requireShape, type Tensor } from '../graph/graph.ts'
import { broadcastShape } from '../graph/shape.ts'
import { alibiSlopes } from './alibi.ts'
import { add, multiply, scale, shift } from './arithmetic.ts'
import { concatenate, integers, reshape, split } from './arrangement.ts'
import { broadcastTo } from './broadcast.ts'
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

/** Added to the score of a key that is not seen. */
const unseen = -1e30
/**
 * The lowest that a score may be, where the highest counts as 0: a weight of e^-80 of the highest, which no sum of numbers in single
 * precision notices. Weights that are too small for a normal number, and exponentials that come out as exactly 0, take three times as long.
 */
const lowest = -80

/**
 * softmax(Q Kᵀ + bias, over the keys that are seen) V, over the keys of all parts together; the keys are divided by sqrt(channels) already. Queries
 * are (rows, heads, queries, channels); consecutive query heads share a key-value head. Every query must see a key.
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
  const capacities = parts.map(({ keys }) => keys.shape[2]!)
  for (const [index, { keys, values }] of parts.entries()) {
    requireShape(keys, [rows, keyValueHeads, capacities[index]!, channels], 'cachedAttention')
    requireShape(values, keys.shape, 'cachedAttention')
  }
  const stacked = reshape(queries, [rows, keyValueHeads, sharing * count, channels])
  const scores = concatenate(
    parts.map(({ keys }) => matrixProduct(stacked, keys, { transposeB: true })),
    -1,
  )
  const biases = parts.map(({ seen, places }) => {
    const limit = limits(seen)
    return alibiPlaces ? add(limit, distanceBias(heads, keyValueHeads, alibiPlaces, places)) : limit
  })
  const apart = [rows, keyValueHeads, sharing, count, scores.shape[3]!]
  const biased = reshape(add(reshape(scores, apart), joined(biases)), scores.shape)
  const weights = split(softmax(raised(biased)), -1, capacities)
  const sums = parts.map(({ values }, index) => matrixProduct(weights[index]!, values))
  return reshape(
    sums.reduce((sum, part) => add(sum, part)),
    queries.shape,
  )
}

/** No lower than `lowest` below the highest of each row. */
function raised(scores: Tensor): Tensor {
  const { graph, shape } = scores
  const highest = graph.operation({
    operation: 'ReduceMax',
    attributes: { keepdims: 1 },
    inputs: [scores, integers(graph, [shape.length - 1])],
    shape: shape.with(-1, 1),
  })
  return graph.operation({ operation: 'Max', inputs: [scores, shift(highest, lowest)], shape })
}

/** One behind the other on the last axis, broadcast to each other on the axes before. */
function joined(biases: readonly Tensor[]): Tensor {
  const leading = biases.map(({ shape }) => shape.slice(0, -1)).reduce((a, b) => broadcastShape(a, b)!)
  return concatenate(
    biases.map(bias => broadcastTo(bias, [...leading, bias.shape.at(-1)!])),
    -1,
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
