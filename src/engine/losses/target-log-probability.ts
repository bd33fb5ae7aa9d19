/**
 * What losses on tokens are made of: the log-probabilities of the targets, under the distribution that is meant.
 */
import { add, multiply, subtract } from '../algebra/arithmetic.ts'
import { sum } from '../algebra/broadcast.ts'
import { exp } from '../algebra/functions.ts'
import { pickSeveral, scatterSum } from '../algebra/scatter.ts'
import { logSoftmax } from '../algebra/softmax.ts'
import type { Tensor } from '../graph/graph.ts'
import { tokenLogProbability } from './token-log-probability.ts'

/** The targets of n positions: one each, several each (n, k), or the whole vocabulary. */
export type Targets =
  | { readonly kind: 'single'; readonly tokens: Tensor }
  | { readonly kind: 'several'; readonly tokens: Tensor }
  | { readonly kind: 'vocabulary' }

/**
 * What a masked logit becomes by adding this: nothing that is finite afterwards comes near it, and its exponential is exactly 0. An
 * infinity would make NaN of every product with 0.
 */
export const removed = -1e30

/**
 * Logits divided by less could come near what is removed, and far below their reciprocal is infinite in single precision. At this one
 * the most probable token has all already, unless logits agree to some millionths.
 */
export const leastTemperature = 1e-6

/** Logits (n, vocabulary) of the distribution that is meant: divided by temperatures, and without what the mask removes. */
export function distributionLogits(
  logits: Tensor,
  /** 1/temperature: (n, 1). Null: 1. */
  inverseTemperatures: Tensor | null,
  /** 0 or `removed`: (n, vocabulary). Null: nothing is removed. */
  mask: Tensor | null,
): Tensor {
  const tempered = inverseTemperatures ? multiply(logits, inverseTemperatures) : logits
  return mask ? add(tempered, mask) : tempered
}

/** In nats: (n, 1), (n, k) or (n, vocabulary). */
export function targetLogProbabilities(logits: Tensor, targets: Targets): Tensor {
  if (targets.kind === 'single') return tokenLogProbability(logits, targets.tokens)
  const normalised = logSoftmax(logits)
  if (targets.kind === 'vocabulary') return normalised
  const { tokens } = targets
  const picked = pickSeveral(normalised, tokens)
  return logits.graph.composite('targetLogProbabilities', picked, [logits], gradient => [
    subtract(scatterSum(gradient, tokens, logits.shape[1]!), multiply(exp(normalised), sum(gradient, [-1]))),
  ])
}
