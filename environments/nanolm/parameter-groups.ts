/**
 * Which optimiser moves which parameters, and how fast, at one point of the schedule. Muon takes the matrices of the
 * blocks; embedding, head and gains always go with AdamW. Gains and the embedding do not decay.
 */
import type { AdamW, ParameterGroup } from '../../src/engine/optimisers/optimiser.ts'
import type { Configuration } from './options.ts'

export function parameterGroups(configuration: Configuration, learningRateFactor: number): ParameterGroup[] {
  const { beta1, beta2, epsilon, weightDecay } = configuration
  const adamw: AdamW = { kind: 'adamw', betas: [beta1, beta2], epsilon }
  const learningRate = configuration.learningRate * learningRateFactor
  const matrices: ParameterGroup =
    configuration.optimiser === 'adamw'
      ? { match: 'matrix', optimiser: adamw, learningRate, weightDecay }
      : {
          match: 'matrix',
          optimiser: {
            kind: 'muon',
            momentum: configuration.muonMomentum,
            newtonSchulzSteps: configuration.newtonSchulzSteps,
          },
          learningRate: configuration.muonLearningRate * learningRateFactor,
          weightDecay,
        }
  return [
    matrices,
    { match: 'embedding', optimiser: adamw, learningRate: learningRate * configuration.embeddingLearningRateFactor },
    { match: 'head', optimiser: adamw, learningRate: learningRate * configuration.headLearningRateFactor, weightDecay },
    { match: 'gain', optimiser: adamw, learningRate },
  ]
}
