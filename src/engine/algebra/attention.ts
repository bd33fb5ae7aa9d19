/**
 * Causal attention of heads that are already projected, with its derivative by hand.
 */
import { describe, type Graph, requireShape, type Tensor } from '../graph/graph.ts'
import { multiply, scale, subtract } from './arithmetic.ts'
import { reshape } from './arrangement.ts'
import { broadcastTo, sum } from './broadcast.ts'
import { matrixProduct } from './matrix-product.ts'
import { softmax } from './softmax.ts'

/**
 * What a masked score becomes, where a query's score with its own key counts as 0: a weight of at most e^-40. Scores far
 * below that would give weights too small for a normal number, and arithmetic with those is ten times slower.
 */
const masked = -40
const allowed = 1e30

/**
 * softmax(Q Kᵀ / sqrt(channels), over keys up to the query's position) V. Queries are (rows, heads, positions, channels), keys and
 * values (rows, key-value heads, positions, channels); consecutive query heads share a key-value head.
 */
export function causalAttention(queries: Tensor, keys: Tensor, values: Tensor): Tensor {
  const [rows, heads, positions, channels] = queries.shape as [number, number, number, number]
  if (queries.shape.length !== 4) throw new Error(`causalAttention: ${describe(queries)} needs four axes`)
  const keyValueHeads = keys.shape[1]!
  requireShape(keys, [rows, keyValueHeads, positions, channels], 'causalAttention')
  requireShape(values, keys.shape, 'causalAttention')
  const sharing = heads / keyValueHeads
  if (!Number.isInteger(sharing))
    throw new Error(`causalAttention: ${heads} query heads cannot share ${keyValueHeads} key-value heads evenly`)

  // The query heads that share keys are stacked along the positions: products then sum over them by themselves.
  const stacked = [rows, keyValueHeads, sharing * positions, channels]
  const stackedQueries = reshape(queries, stacked)
  const factor = 1 / Math.sqrt(channels)
  const scaledQueries = scale(stackedQueries, factor)
  const scores = matrixProduct(scaledQueries, keys, { transposeB: true })
  const withOwnKey = sum(multiply(scale(queries, factor), repeatHeads(keys, sharing)), [-1])
  const relative = subtract(scores, reshape(withOwnKey, [rows, keyValueHeads, sharing * positions, 1]))
  const weights = softmax(minimum(relative, causalLimits(queries.graph, sharing, positions)))
  const result = matrixProduct(weights, values)

  const attended = queries.graph.composite('causalAttention', result, [stackedQueries, keys, values], gradient => {
    // By the softmax: P (dP - rows of P · dP), and those row sums equal the rows of O · dO, which is smaller. What was
    // subtracted from a whole row of scores does not matter to it.
    const byWeights = matrixProduct(gradient, values, { transposeB: true })
    const byScores = multiply(weights, subtract(byWeights, sum(multiply(gradient, result), [-1])))
    return [
      scale(matrixProduct(byScores, keys), factor),
      matrixProduct(byScores, scaledQueries, { transposeA: true }),
      matrixProduct(weights, gradient, { transposeA: true }),
    ]
  })
  return reshape(attended, queries.shape)
}

/** (rows, key-value heads, …) → (rows, heads, …), each `sharing` times in a row. */
function repeatHeads(keys: Tensor, sharing: number): Tensor {
  const [rows, heads, positions, channels] = keys.shape as [number, number, number, number]
  const repeated = broadcastTo(reshape(keys, [rows, heads, 1, positions, channels]), [
    rows,
    heads,
    sharing,
    positions,
    channels,
  ])
  return reshape(repeated, [rows, heads * sharing, positions, channels])
}

/** The highest that each relative score may be: (queries of all sharing heads, keys). */
function causalLimits(graph: Graph, sharing: number, positions: number): Tensor {
  const limits = Array.from({ length: sharing * positions * positions }, (_, index) => {
    const query = Math.floor(index / positions) % positions
    return index % positions > query ? masked : allowed
  })
  return graph.constant(limits, [sharing * positions, positions])
}

/** The smaller of two, element by element. Not differentiable: it serves inside a derivative by hand. */
function minimum(a: Tensor, b: Tensor): Tensor {
  return a.graph.operation({ operation: 'Min', inputs: [a, b], shape: a.shape })
}
