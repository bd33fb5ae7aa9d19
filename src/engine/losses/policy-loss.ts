/**
 * The losses on tokens that a policy drew, as graphs, each with its derivative by hand. All tensors are (n, 1).
 */
import { multiply, negate, scale, shift, subtract } from '../algebra/arithmetic.ts'
import { exp, relu, sign, square } from '../algebra/functions.ts'
import type { Tensor } from '../graph/graph.ts'
import { clipBounds } from './check-loss.ts'
import type { Cispo, PolicyLoss, Ppo } from './loss.ts'

export interface PolicyTensors {
  /** Of the targets, under the model. */
  readonly logProbabilities: Tensor
  /** Under the policy that drew them; finite everywhere. */
  readonly drawn: Tensor
  /** 0 where a position is left out. */
  readonly advantages: Tensor
  /** 1 where a position counts, 0 where it is left out: there the ratio is 1, whatever the log-probabilities are. */
  readonly counted: Tensor
}

/** Log-ratios are cut here, so that ratios are finite: an infinity would make NaN of a clipped position's gradient. */
const largestLogRatio = 69

/** What each position adds to the loss. */
export function policyLosses(loss: PolicyLoss, tensors: PolicyTensors): Tensor {
  const { logProbabilities, drawn, advantages, counted } = tensors
  const { graph } = logProbabilities
  const logRatio = multiply(subtract(logProbabilities, drawn), counted)
  const byLogProbability = (name: string, value: Tensor, slope: Tensor) =>
    graph.composite(name, value, [logProbabilities], gradient => [multiply(gradient, slope)])
  if (loss.kind === 'dro') {
    const { beta } = loss
    const penalty = scale(square(logRatio), beta / 2)
    const value = subtract(penalty, multiply(logProbabilities, advantages))
    return byLogProbability('dro', value, subtract(scale(logRatio, beta), advantages))
  }
  const ratio = exp(minimum(logRatio, graph.scalar(largestLogRatio)))
  const gain = multiply(ratio, advantages)
  if (loss.kind === 'importance_sampling') return byLogProbability('importanceSampling', negate(gain), negate(gain))
  if (loss.kind === 'ppo') {
    const clipped = multiply(between(ratio, loss), advantages)
    // 1 where the unclipped gain is the smaller one, so that it is what is differentiated; also where both are equal.
    const open = negate(shift(sign(relu(subtract(gain, clipped))), -1))
    return byLogProbability('ppo', negate(minimum(gain, clipped)), negate(multiply(gain, open)))
  }
  const weight = multiply(between(ratio, loss), advantages)
  return byLogProbability('cispo', negate(multiply(weight, logProbabilities)), negate(weight))
}

function between(ratio: Tensor, loss: Ppo | Cispo): Tensor {
  const { clipLow, clipHigh } = clipBounds(loss)
  return maximum(minimum(ratio, ratio.graph.scalar(clipHigh)), ratio.graph.scalar(clipLow))
}

/** Not differentiable, like `maximum`: they serve inside derivatives by hand. */
function minimum(a: Tensor, b: Tensor): Tensor {
  return a.graph.operation({ operation: 'Min', inputs: [a, b], shape: a.shape })
}

function maximum(a: Tensor, b: Tensor): Tensor {
  return a.graph.operation({ operation: 'Max', inputs: [a, b], shape: a.shape })
}
