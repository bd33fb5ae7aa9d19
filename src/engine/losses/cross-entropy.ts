/**
 * Cross-entropy as a graph: -Σ weight × log-probability, with label smoothing and the z-loss.
 */
import { add, multiply, negate, scale } from '../algebra/arithmetic.ts'
import { sum } from '../algebra/broadcast.ts'
import { square } from '../algebra/functions.ts'
import { total } from '../algebra/reduction.ts'
import { logSoftmax, logSumExp } from '../algebra/softmax.ts'
import type { Tensor } from '../graph/graph.ts'

/** -weight × log-probability of each target, elementwise; the weights have the shape of the log-probabilities. */
export function crossEntropyLosses(logProbabilities: Tensor, weights: Tensor): Tensor {
  return negate(multiply(weights, logProbabilities))
}

/** (1 - s) lp + s × the mean of all log-probabilities of a position (Szegedy et al., 2016): (n, 1). */
export function smoothedLogProbabilities(logProbabilities: Tensor, logits: Tensor, smoothing: number): Tensor {
  if (smoothing === 0) return logProbabilities
  const all = sum(logSoftmax(logits), [-1])
  return add(scale(logProbabilities, 1 - smoothing), scale(all, smoothing / logits.shape[1]!))
}

/** zLoss × Σ weight × log(Σ exp(logits))², a scalar (PaLM, Chowdhery et al., 2022, section 5). Weights are (n, 1). */
export function zLossSum(logits: Tensor, weights: Tensor, zLoss: number): Tensor {
  return scale(total(multiply(weights, square(logSumExp(logits)))), zLoss)
}
