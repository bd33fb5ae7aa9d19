import { expect, test } from 'vitest'
import { resolveConfiguration } from './configuration.ts'
import { parameterGroups } from './parameter-groups.ts'

const rates = {
  learningRate: 0.01,
  muonLearningRate: 0.1,
  lionLearningRate: 0.001,
  sgdLearningRate: 1,
  embeddingLearningRateFactor: 3,
  headLearningRateFactor: 0.5,
  weightDecay: 0.2,
}

test.each([
  ['adamw', ['adamw', 0.005, 0.2], ['adamw', 0.015, 0], ['adamw', 0.0025, 0.2], ['adamw', 0.005, 0]],
  ['muon', ['muon', 0.05, 0.2], ['adamw', 0.015, 0], ['adamw', 0.0025, 0.2], ['adamw', 0.005, 0]],
  ['lion', ['lion', 0.0005, 0.2], ['lion', 0.0015, 0], ['lion', 0.00025, 0.2], ['lion', 0.0005, 0]],
  ['sgd', ['sgd', 0.5, 0.2], ['sgd', 1.5, 0], ['sgd', 0.25, 0.2], ['sgd', 0.5, 0]],
])('%s: kind, rate and decay of matrices, embeddings, the head and norms half-way down', (optimiser, ...expected) => {
  const groups = parameterGroups(resolveConfiguration({ ...rates, optimiser }), 0.5)
  expect(groups.map(({ match }) => match)).toEqual(['matrix', 'embedding', 'head', ['gain', 'bias']])
  for (const [index, { optimiser, learningRate, weightDecay = 0 }] of groups.entries()) {
    const [kind, rate, decay] = expected[index]!
    expect([optimiser.kind, weightDecay]).toEqual([kind, decay])
    expect(learningRate).toBeCloseTo(rate as number, 12)
  }
})
