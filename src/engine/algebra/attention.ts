/**
 * Attention of heads that are already projected, with its derivative by hand.
 */
import { describe, requireShape, type Tensor } from '../graph/graph.ts'
import { broadcastShape } from '../graph/shape.ts'
import { add, multiply, scale, subtract } from './arithmetic.ts'
import { reshape, slice } from './arrangement.ts'
import { broadcastTo, sum } from './broadcast.ts'
import { matrixProduct } from './matrix-product.ts'
import { softmax } from './softmax.ts'

/**
 * What a masked score becomes, where the score with the key of reference counts as 0: a weight of at most e^-40 of that
 * key's. Scores far below that would give weights too small for a normal number, and arithmetic with those is ten times
 * slower.
 */
const masked = -40
const allowed = 1e30

export interface AttentionOptions {
  /** True where a query sees a key: (rows or 1, queries or 1, keys). */
  readonly mask: Tensor
  /**
   * Added to the scores: (heads, queries, keys). It has no derivative. What falls to -40 below the key of reference
   * stays there.
   */
  readonly bias?: Tensor | null
  /** A key that every query sees: its own, where queries and keys are of the same positions, or the first. */
  readonly reference: 'own' | 'first'
}

/**
 * softmax(Q Kᵀ / sqrt(channels) + bias, over the keys that are seen) V. Queries are (rows, heads, queries, channels),
 * keys and values (rows, key-value heads, keys, channels); consecutive query heads share a key-value head.
 */
export function attention(queries: Tensor, keys: Tensor, values: Tensor, options: AttentionOptions): Tensor {
  const [rows, heads, count, channels] = queries.shape as [number, number, number, number]
  if (queries.shape.length !== 4) throw new Error(`attention: ${describe(queries)} needs four axes`)
  const [, keyValueHeads, keyCount] = keys.shape as [number, number, number]
  requireShape(keys, [rows, keyValueHeads, keyCount, channels], 'attention')
  requireShape(values, keys.shape, 'attention')
  const sharing = heads / keyValueHeads
  if (!Number.isInteger(sharing))
    throw new Error(`attention: ${heads} query heads cannot share ${keyValueHeads} key-value heads evenly`)

  // The query heads that share keys are stacked along the positions: products then sum over them by themselves.
  const stackedQueries = reshape(queries, [rows, keyValueHeads, sharing * count, channels])
  const factor = 1 / Math.sqrt(channels)
  const scaledQueries = scale(stackedQueries, factor)
  const scores = matrixProduct(scaledQueries, keys, { transposeB: true })
  const ofReference =
    options.reference === 'own'
      ? reshape(sum(multiply(scale(queries, factor), repeatHeads(keys, sharing)), [-1]), [
          ...scores.shape.slice(0, 3),
          1,
        ])
      : slice(scores, -1, 0, 1)
  const relative = subtract(scores, ofReference)
  const byHead = reshape(relative, [rows, keyValueHeads, sharing, count, keyCount])
  const weights = softmax(reshape(limited(byHead, options), scores.shape))
  const result = matrixProduct(weights, values)

  const attended = queries.graph.composite('attention', result, [stackedQueries, keys, values], gradient => {
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

/** Relative scores (rows, key-value heads, sharing, queries, keys), with masked ones at -40. */
function limited(relative: Tensor, { mask, bias }: AttentionOptions): Tensor {
  const { graph } = relative
  const [maskRows, maskQueries, keys] = mask.shape as [number, number, number]
  const seen = reshape(mask, [maskRows, 1, 1, maskQueries, keys])
  if (!bias) return extreme('Min', relative, choose(seen, graph.scalar(allowed), graph.scalar(masked)))
  const [, keyValueHeads, sharing, queries] = relative.shape as [number, number, number, number]
  requireShape(bias, [keyValueHeads * sharing, queries, keys], 'attention')
  const byHead = reshape(bias, [1, keyValueHeads, sharing, queries, keys])
  const biased = add(relative, choose(seen, byHead, graph.scalar(-allowed)))
  return extreme('Max', biased, graph.scalar(masked))
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

// Not differentiable: these serve inside a derivative by hand.

function choose(mask: Tensor, ifTrue: Tensor, ifFalse: Tensor): Tensor {
  const shape = broadcastShape(mask.shape, ifTrue.shape)!
  return mask.graph.operation({ operation: 'Where', inputs: [mask, ifTrue, ifFalse], shape })
}

/** The smaller or larger of two, element by element; the second broadcasts to the first. */
function extreme(operation: 'Min' | 'Max', a: Tensor, b: Tensor): Tensor {
  return a.graph.operation({ operation, inputs: [a, b], shape: a.shape })
}
