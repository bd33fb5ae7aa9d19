/**
 * Causal attention of heads that are already projected, with its derivative by hand.
 */
import { describe, requireShape, type Tensor } from '../graph/graph.ts'
import { add, multiply, scale, subtract } from './arithmetic.ts'
import { reshape } from './arrangement.ts'
import { sum } from './broadcast.ts'
import { matrixProduct } from './matrix-product.ts'
import { softmax } from './softmax.ts'

/** Far below any score, and finite: an infinity would make NaN of a product with zero. */
const masked = -1e30

/**
 * softmax(Q Kᵀ / sqrt(channels) + mask) V. Queries are (rows, heads, positions, channels), keys and values (rows, key-value heads,
 * positions, channels); consecutive query heads share a key-value head.
 */
export function causalAttention(queries: Tensor, keys: Tensor, values: Tensor): Tensor {
  const [rows, heads, positions, channels] = queries.shape
  if (queries.shape.length !== 4) throw new Error(`causalAttention: ${describe(queries)} needs four axes`)
  const keyValueHeads = keys.shape[1]!
  requireShape(keys, [rows!, keyValueHeads, positions!, channels!], 'causalAttention')
  requireShape(values, keys.shape, 'causalAttention')
  const sharing = heads! / keyValueHeads
  if (!Number.isInteger(sharing))
    throw new Error(`causalAttention: ${heads} query heads cannot share ${keyValueHeads} key-value heads evenly`)

  // The query heads that share keys are stacked along the positions: products then sum over them by themselves.
  const stacked = [rows!, keyValueHeads, sharing * positions!, channels!]
  const factor = 1 / Math.sqrt(channels!)
  const scaledQueries = reshape(scale(queries, factor), stacked)
  const scores = matrixProduct(scaledQueries, keys, { transposeB: true })
  const mask = Array.from({ length: sharing * positions! * positions! }, (_, index) => {
    const query = Math.floor(index / positions!) % positions!
    return index % positions! > query ? masked : 0
  })
  const weights = softmax(add(scores, queries.graph.constant(mask, [sharing * positions!, positions!])))
  const result = matrixProduct(weights, values)

  const attended = queries.graph.composite(
    'causalAttention',
    result,
    [reshape(queries, stacked), keys, values],
    gradient => {
      // By the softmax: P (dP - rows of P · dP), and those row sums equal the rows of O · dO, which is smaller.
      const byWeights = matrixProduct(gradient, values, { transposeB: true })
      const byScores = multiply(weights, subtract(byWeights, sum(multiply(gradient, result), [-1])))
      return [
        scale(matrixProduct(byScores, keys), factor),
        matrixProduct(byScores, scaledQueries, { transposeA: true }),
        matrixProduct(weights, gradient, { transposeA: true }),
      ]
    },
  )
  return reshape(attended, queries.shape)
}
