/**
 * The derivatives of the losses by the logits against central finite differences, in double precision. CISPO's is none of its value: its weight is
 * not differentiated, so that it is compared with a fixed one.
 */
import { expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { multiply, negate } from '../algebra/arithmetic.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { crossEntropy } from './cross-entropy.ts'
import type { PolicyLoss } from './loss.ts'
import { policyLosses } from './policy-loss.ts'
import { distributionLogits, removed, targetLogProbabilities } from './target-log-probability.ts'

const [positions, vocabulary] = [4, 5]
const random = seededRandom('losses')
const draws = (size: number) => Float64Array.from({ length: size }, () => random.normal())
const logits = { shape: [positions, vocabulary], values: draws(positions * vocabulary) }

/** The third position has half of its tokens, the last target of the first is a repetition. */
const fixed = {
  targets: Int32Array.of(2, 0, 2, 4),
  several: Int32Array.of(1, 3, 1, 0, 1, 2, 2, 4, 2, 3, 3, 3),
  weights: Float64Array.of(1, -0.5, 2, 0),
  severalWeights: draws(12),
  vocabularyWeights: draws(20),
  inverseTemperatures: Float64Array.of(1, 0.5, 2, 1.3),
  mask: Float64Array.from({ length: 20 }, (_, index) => (index > 10 && index % 2 === 1 && index < 15 ? removed : 0)),
  drawn: Float64Array.of(-1.2, -3, -0.3, -2),
  advantages: Float64Array.of(1, -2, 0.5, 0),
  counted: Float64Array.of(1, 1, 1, 0),
}

function meant(graph: Graph, tensor: Tensor): Tensor {
  const inverse = graph.input('inverseTemperatures', [positions, 1])
  return distributionLogits(tensor, inverse, graph.input('mask', [positions, vocabulary]))
}
const single = (graph: Graph) =>
  ({ kind: 'single', tokens: graph.indices('targets', [positions], vocabulary) }) as const
const policy = (graph: Graph, tensor: Tensor) => ({
  logProbabilities: targetLogProbabilities(meant(graph, tensor), single(graph)),
  drawn: graph.input('drawn', [positions, 1]),
  advantages: graph.input('advantages', [positions, 1]),
  counted: graph.input('counted', [positions, 1]),
})
const policyLoss = (loss: PolicyLoss) => (graph: Graph, tensor: Tensor) => policyLosses(loss, policy(graph, tensor))

it.each<readonly [string, (graph: Graph, logits: Tensor) => Tensor]>([
  [
    'cross-entropy, tempered and masked',
    (graph, a) => crossEntropy(meant(graph, a), single(graph), graph.input('weights', [positions, 1])).objective,
  ],
  [
    'label smoothing and z-loss',
    (graph, a) =>
      crossEntropy(a, single(graph), graph.input('weights', [positions, 1]), { labelSmoothing: 0.2, zLoss: 0.3 })
        .objective,
  ],
  [
    'several targets',
    (graph, a) => {
      const tokens = graph.indices('several', [positions, 3], vocabulary)
      return crossEntropy(a, { kind: 'several', tokens }, graph.input('severalWeights', [positions, 3])).objective
    },
  ],
  [
    'the whole vocabulary',
    (graph, a) =>
      crossEntropy(a, { kind: 'vocabulary' }, graph.input('vocabularyWeights', [positions, vocabulary])).objective,
  ],
  ['importance sampling', policyLoss({ kind: 'importance_sampling' })],
  ['PPO', policyLoss({ kind: 'ppo' })],
  ['DRO', policyLoss({ kind: 'dro', beta: 0.4 })],
])('%s', async (_, build) => {
  const error = await worstDerivativeError({
    inputs: { logits },
    fixed,
    build: (graph, inputs) => build(graph, inputs['logits']!),
  })
  expect(error).toBeLessThan(1e-6)
})

it('CISPO, as the log-probability times what its weight is at this point', async () => {
  // Both derivatives by the logits at once: that of CISPO, minus that of the fixed weight times the log-probability, is zero.
  const weights = ratiosAt()
  const error = await worstDerivativeError({
    inputs: { logits },
    fixed: { ...fixed, fixedWeights: weights },
    build: (graph, inputs) => {
      const tensors = policy(graph, inputs['logits']!)
      const value = negate(multiply(graph.input('fixedWeights', [positions, 1]), tensors.logProbabilities))
      const cispo = policyLosses({ kind: 'cispo', clipHigh: 1.5 }, tensors)
      // The value of one and the derivative of the other.
      return graph.composite('cispo', value, [cispo], gradient => [gradient])
    },
  })
  expect(error).toBeLessThan(1e-6)
})

/** clip(r, 0, 1.5) A in plain loops. */
function ratiosAt(): Float64Array {
  return Float64Array.from({ length: positions }, (_, position) => {
    const row = logits.values.slice(position * vocabulary, (position + 1) * vocabulary)
    const scaled = row.map((value, token) => {
      const kept = fixed.mask[position * vocabulary + token] === 0
      return kept ? value * fixed.inverseTemperatures[position]! : Number.NEGATIVE_INFINITY
    })
    const sum = Math.log(scaled.reduce((total, value) => total + Math.exp(value), 0))
    const ratio = Math.exp(scaled[fixed.targets[position]!]! - sum - fixed.drawn[position]!)
    return fixed.counted[position]! * Math.min(ratio, 1.5) * fixed.advantages[position]!
  })
}
