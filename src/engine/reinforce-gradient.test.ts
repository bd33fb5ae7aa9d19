/**
 * What REINFORCE follows is the gradient of the expected reward: all sequences of a tiny policy, each with its exact probability instead of
 * samples, through the trainer. Finite differences of the expected reward are the authority. Also where a rounded policy drew the samples.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import type { PolicyDatum } from './datum.ts'
import { createEmbeddedEngine } from './embedded/engine.ts'
import type { PolicyLoss } from './losses/loss.ts'
import { decoder } from './models/decoder.ts'
import type { Sampler } from './sampling.ts'
import type { Trainer } from './training.ts'

const vocabulary = 3
/** All that can follow the first token, which is 0. */
const sequences = Array.from({ length: vocabulary ** 2 }, (_, index) => {
  const [first, second] = [Math.floor(index / vocabulary), index % vocabulary]
  return { input: { tokens: Int32Array.of(0, first) }, targets: Int32Array.of(first, second) }
})
const random = seededRandom('rewards')
const rewards = sequences.map(() => random.normal())
const probability = (logProbabilities: Float32Array) =>
  Math.exp(logProbabilities.reduce((sum, value) => sum + value, 0))

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
let trainer: Trainer
/** The derivative of the expected reward along a direction, which moves one parameter. */
let slopes: readonly { readonly name: string; readonly direction: Float32Array; readonly slope: number }[]

const logProbabilitiesOf = async (sampler: Sampler) =>
  (await sampler.score(sequences)).map(score => score.logProbabilities)

async function expectedReward(): Promise<number> {
  const data = sequences.map(sequence => ({ ...sequence, weights: new Float32Array(2) }))
  const { logProbabilities } = await trainer.forward(data, { kind: 'cross_entropy' })
  return logProbabilities.reduce((sum, tokens, index) => sum + rewards[index]! * probability(tokens), 0)
}

/** Of fourth order: single precision allows no small steps. */
async function slopeAlong(name: string, direction: Float32Array): Promise<number> {
  const values = (await trainer.values()).get(name)!
  const moved = async (distance: number) => {
    await trainer.setValues(new Map([[name, values.map((value, index) => value + distance * direction[index]!)]]))
    return expectedReward()
  }
  const distance = 0.05
  const near = (await moved(distance)) - (await moved(-distance))
  const far = (await moved(2 * distance)) - (await moved(-2 * distance))
  await trainer.setValues(new Map([[name, values]]))
  return (8 * near - far) / (12 * distance)
}

beforeAll(async () => {
  const model = decoder({
    vocabulary,
    contextLength: 2,
    depth: 1,
    width: 8,
    heads: 2,
    activation: 'gelu',
  })
  trainer = await engine.createTrainer({ model, seed: 3 })
  const found = []
  for (const [name, { length }] of await trainer.values()) {
    const direction = Float32Array.from({ length }, () => random.normal() / Math.sqrt(length))
    found.push({ name, direction, slope: await slopeAlong(name, direction) })
  }
  slopes = found
})

/** How far the gradient of a loss is from the one of the expected reward, relative to it: over one direction of each parameter. */
async function errorOf(data: readonly PolicyDatum[], loss: PolicyLoss): Promise<number> {
  await trainer.forwardBackward(data, loss)
  const gradients = await trainer.gradients()
  await trainer.clearGradients()
  const pairs = slopes.map(({ name, direction, slope }) => {
    const gradient = gradients.get(name)!
    return { slope, along: -gradient.reduce((sum, value, index) => sum + value * direction[index]!, 0) }
  })
  return Math.hypot(...pairs.map(({ slope, along }) => along - slope)) / Math.hypot(...pairs.map(({ slope }) => slope))
}

it.each<PolicyLoss>([{ kind: 'importance_sampling' }, { kind: 'ppo' }, { kind: 'cispo' }, { kind: 'dro', beta: 0.5 }])(
  '$kind on a policy’s own samples has its gradient, whatever the baseline',
  async loss => {
    const sampler = await trainer.snapshot()
    const own = await logProbabilitiesOf(sampler)
    await sampler.dispose()
    expect(own.reduce((sum, tokens) => sum + probability(tokens), 0)).toBeCloseTo(1, 5)
    for (const baseline of [0, 2]) {
      const data = sequences.map((sequence, index): PolicyDatum => {
        const advantage = probability(own[index]!) * (rewards[index]! - baseline)
        return { ...sequence, logProbabilities: own[index]!, advantages: new Float32Array(2).fill(advantage) }
      })
      expect(await errorOf(data, loss)).toBeLessThan(1e-4)
    }
  },
)

it('samples of a rounded policy carry its own log-probabilities, and importance sampling corrects for them', async () => {
  const exact = await trainer.snapshot()
  const rounded = await trainer.snapshot({ quantisation: { bits: 4, groupSize: 8 } })
  const [own, drawn] = [await logProbabilitiesOf(exact), await logProbabilitiesOf(rounded)]
  const [samples] = await rounded.sample([{ prompt: { tokens: Int32Array.of(0) }, samples: 30, maximumTokens: 2 }])
  for (const { tokens, logProbabilities } of samples!)
    for (const [place, value] of logProbabilities.entries())
      expect(value).toBeCloseTo(drawn[vocabulary * tokens[0]! + tokens[1]!]![place]!, 5)
  await exact.dispose()
  await rounded.dispose()

  const ratios = own.map((tokens, index) => tokens.map((value, place) => Math.exp(value - drawn[index]![place]!)))
  expect(Math.max(...ratios.flatMap(tokens => [...tokens]))).toBeGreaterThan(1.05)
  const data = (logProbabilities: readonly Float32Array[], ofTheOther: boolean) =>
    sequences.map((sequence, index): PolicyDatum => {
      const advantage = probability(drawn[index]!) * rewards[index]!
      const others = ratios[index]!.slice().reverse()
      const advantages = others.map(ratio => advantage * (ofTheOther ? ratio : 1))
      return { ...sequence, logProbabilities: logProbabilities[index]!, advantages }
    })
  const loss = { kind: 'importance_sampling' } as const
  // The loss has the ratio of each token. The one of the rest of its sequence belongs to the advantage.
  expect(await errorOf(data(drawn, true), loss)).toBeLessThan(1e-4)
  // Without it the gradient is off, and more so with none at all, as if the policy had drawn them itself.
  const tokenwise = await errorOf(data(drawn, false), loss)
  expect(tokenwise).toBeGreaterThan(0.01)
  expect(await errorOf(data(own, false), loss)).toBeGreaterThan(1.5 * tokenwise)
})
