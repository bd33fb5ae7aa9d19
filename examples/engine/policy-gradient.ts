/**
 * Reinforcement learning in its shortest form (REINFORCE with a group's mean as baseline): samples, rewards, advantages, a step. The reward
 * is the share of vowels in what the model writes.
 *
 * Run:  node examples/engine/policy-gradient.ts
 */
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import { policyDatum } from '../../src/engine/policy-datum.ts'
import { characterTokeniser } from '../../src/engine/tokenisers/character-tokeniser.ts'
import type { Trainer } from '../../src/engine/training.ts'

const tokeniser = characterTokeniser('abcdefghijklmnopqrstuvwxyz ')
const start = tokeniser.encode(' ')

const reward = (text: string): number => text.replace(/[^aeiou]/g, '').length / text.length

/** Returns the mean reward of the samples that the step learns from. */
async function step(trainer: Trainer): Promise<number> {
  const sampler = await trainer.snapshot()
  const request = { prompt: { tokens: start }, samples: 16, maximumTokens: 8, seed: trainer.version }
  const [samples] = await sampler.sample([request])
  await sampler.dispose()

  const rewards = samples!.map(({ tokens }) => reward(tokeniser.decode(tokens)))
  const mean = rewards.reduce((sum, value) => sum + value, 0) / rewards.length
  const data = samples!.map((sample, index) => {
    const advantage = (rewards[index]! - mean) / (rewards.length * sample.tokens.length)
    return policyDatum(request.prompt, sample, advantage)
  })
  await trainer.forwardBackward(data, { kind: 'importance_sampling' })
  const groups = [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 }] as const
  await trainer.optimStep({ groups, clipNorm: 1 })
  return mean
}

/** Returns the mean reward by step. */
export async function learnVowels(steps: number): Promise<number[]> {
  const engine = createEmbeddedEngine()
  const model = decoder({
    vocabulary: tokeniser.vocabulary,
    contextLength: 16,
    depth: 1,
    width: 16,
    heads: 2,
    activation: 'gelu',
  })
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const rewards: number[] = []
  for (let count = 0; count < steps; count++) rewards.push(await step(trainer))
  await engine.dispose()
  return rewards
}

if (import.meta.main) {
  const rewards = await learnVowels(60)
  for (let count = 0; count < rewards.length; count += 10)
    console.log(`step ${count}: ${(100 * rewards[count]!).toFixed(0)} % vowels`)
}
