/**
 * The loss of next-token prediction with a weight for each position, and the z-loss that keeps logits small (PaLM, Chowdhery
 * et al., 2022, section 5): zLoss × weight × log(sum of exp(logits))².
 */

import { add, multiply, negate, scale } from '../algebra/arithmetic.ts'
import { square } from '../algebra/functions.ts'
import { total } from '../algebra/reduction.ts'
import { logSumExp } from '../algebra/softmax.ts'
import type { Tensor } from '../graph/graph.ts'
import { tokenLogProbability } from './token-log-probability.ts'

export interface TokenLoss {
  /** Sum of weight × -log p(target); a scalar. */
  readonly lossSum: Tensor
  /** A scalar; null when there is no z-loss. */
  readonly zLossSum: Tensor | null
  /** lossSum + zLossSum: what is differentiated. */
  readonly objective: Tensor
  /** (n, 1) */
  readonly tokenLogProbabilities: Tensor
}

/** Logits (n, vocabulary), targets (n), weights (n, 1). */
export function tokenLoss(logits: Tensor, targets: Tensor, weights: Tensor, zLoss: number): TokenLoss {
  const tokenLogProbabilities = tokenLogProbability(logits, targets)
  const lossSum = negate(total(multiply(weights, tokenLogProbabilities)))
  if (zLoss === 0) return { lossSum, zLossSum: null, objective: lossSum, tokenLogProbabilities }
  const zLossSum = scale(total(multiply(weights, square(logSumExp(logits)))), zLoss)
  return { lossSum, zLossSum, objective: add(lossSum, zLossSum), tokenLogProbabilities }
}
