/**
 * What losses on tokens are made of: the log-probability of a token at each position.
 */

import { multiply, subtract } from '../algebra/arithmetic.ts'
import { exp } from '../algebra/functions.ts'
import { oneHot, pick } from '../algebra/lookup.ts'
import { logSoftmax } from '../algebra/softmax.ts'
import type { Tensor } from '../graph/graph.ts'

/** log softmax(logits)[target], in nats: logits (n, vocabulary), targets (n) → (n, 1). */
export function tokenLogProbability(logits: Tensor, targets: Tensor): Tensor {
  const normalised = logSoftmax(logits)
  return logits.graph.composite('tokenLogProbability', pick(normalised, targets), [logits], gradient => [
    multiply(gradient, subtract(oneHot(targets, logits.shape[1]!), exp(normalised))),
  ])
}
