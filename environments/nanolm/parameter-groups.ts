/**
 * Which optimiser moves which parameters, and how fast, at one point of the schedule. Muon takes the matrices of the
 * blocks and leaves the rest to AdamW; the others take everything. Norms and embeddings do not decay.
 */
import type { Muon, Optimiser, ParameterGroup } from '../../src/engine/optimisers/optimiser.ts'
import type { Configuration } from './options.ts'

/** Lion's first beta: how much of the momentum, against the gradient, is in the sign that is taken (Chen et al., 2023). */
const lookAhead = 0.9

interface Mover {
  readonly optimiser: Optimiser
  readonly learningRate: number
}

export function parameterGroups(configuration: Configuration, learningRateFactor: number): ParameterGroup[] {
  const { embeddingLearningRateFactor, headLearningRateFactor, weightDecay } = configuration
  const most = mover(configuration)
  const matrices = configuration.optimiser === 'muon' ? muon(configuration) : most
  const group = (match: ParameterGroup['match'], { optimiser, learningRate }: Mover, factor = 1) => ({
    match,
    optimiser,
    learningRate: learningRate * learningRateFactor * factor,
  })
  return [
    { ...group('matrix', matrices), weightDecay },
    group('embedding', most, embeddingLearningRateFactor),
    { ...group('head', most, headLearningRateFactor), weightDecay },
    group(['gain', 'bias'], most),
  ]
}

/** Of what Muon does not take. */
function mover(configuration: Configuration): Mover {
  switch (configuration.optimiser) {
    case 'lion':
      return {
        optimiser: { kind: 'lion', betas: [lookAhead, configuration.lionMomentum] },
        learningRate: configuration.lionLearningRate,
      }
    case 'sgd':
      return {
        optimiser: { kind: 'sgd', momentum: configuration.sgdMomentum },
        learningRate: configuration.sgdLearningRate,
      }
    default: {
      const { beta1, beta2, epsilon, learningRate } = configuration
      return { optimiser: { kind: 'adamw', betas: [beta1, beta2], epsilon }, learningRate }
    }
  }
}

function muon({ muonMomentum, newtonSchulzSteps, muonLearningRate }: Configuration): Mover {
  const optimiser: Muon = { kind: 'muon', momentum: muonMomentum, newtonSchulzSteps }
  return { optimiser, learningRate: muonLearningRate }
}
