/**
 * What data and losses are refused for, in which words; and that a refusal changes nothing.
 */
import { afterAll, describe, expect, it } from 'vitest'
import type { CrossEntropyDatum, Datum, PolicyDatum } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import type { Model } from '../models/model.ts'
import { checkData } from './check-data.ts'
import type { Loss } from './loss.ts'

const model = bigram({ vocabulary: 5, contextLength: 4, initialDeviation: 1 })
const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const shared = engine.createTrainer({ model })

const tokens = Int32Array.from([0, 1, 2])
const good: CrossEntropyDatum = { input: { tokens }, targets: tokens, weights: Float32Array.from([1, -1, 0]) }
const drawn: PolicyDatum = {
  input: { tokens },
  targets: tokens,
  logProbabilities: new Float32Array(3).fill(-1),
  advantages: Float32Array.from([1, 0, -1]),
}
const ragged = (offsets: number[], chosen: number[]) => ({
  tokens: Int32Array.from(chosen),
  offsets: Int32Array.from(offsets),
})
const cross: Loss = { kind: 'cross_entropy' }
const ppo: Loss = { kind: 'ppo' }
const at = (index: number, value: number, array: Float32Array) => array.with(index, value)

describe.each<readonly [string, Datum, Loss, string]>([
  ['no tokens', { ...good, input: { tokens: new Int32Array(0) } }, cross, 'data[1].input has no tokens'],
  [
    'too many',
    { ...good, input: { tokens: new Int32Array(5) } },
    cross,
    'data[1].input has 5 positions: the model takes at most 4',
  ],
  [
    'a token that is none',
    { ...good, input: { tokens: Int32Array.from([0, 5, 0]) } },
    cross,
    'data[1].input.tokens[1] is 5: expected a token from 0 to 4',
  ],
  ['a negative token', { ...good, targets: Int32Array.from([0, 0, -1]) }, cross, 'data[1].targets[2] is -1'],
  [
    'too few targets',
    { ...good, targets: new Int32Array(2) },
    cross,
    'data[1].targets has 2 entries: expected 3, one for each of 3 positions',
  ],
  [
    'too many weights',
    { ...good, weights: new Float32Array(4) },
    cross,
    'data[1].weights has 4 entries: expected 3, one for each target',
  ],
  [
    'weights for some of the vocabulary',
    { ...good, targets: 'vocabulary', weights: new Float32Array(14) },
    cross,
    'data[1].weights has 14 entries: expected 15',
  ],
  [
    'too few weights of several targets',
    { ...good, targets: ragged([0, 2, 2, 3], [1, 2, 3]), weights: new Float32Array(2) },
    cross,
    'data[1].weights has 2 entries: expected 3',
  ],
  [
    'too few offsets',
    { ...good, targets: ragged([0, 1, 3], [1, 2, 3]) },
    cross,
    'data[1].targets.offsets has 3 entries: expected 4, one more than 3 positions',
  ],
  [
    'offsets that fall',
    { ...good, targets: ragged([0, 2, 1, 3], [1, 2, 3]) },
    cross,
    'data[1].targets.offsets[2] is 1: expected to begin at 0 and never to fall',
  ],
  [
    'offsets that end early',
    { ...good, targets: ragged([0, 1, 1, 2], [1, 2, 3]) },
    cross,
    'data[1].targets.offsets end at 2, but there are 3 tokens',
  ],
  [
    'a weight that is no number',
    { ...good, weights: at(1, Number.NaN, good.weights) },
    cross,
    'data[1].weights[1] is NaN',
  ],
  [
    'features for a model without',
    { ...good, input: { tokens, features: new Float32Array(3) } },
    cross,
    'data[1].input has features: this model reads none',
  ],
  [
    'an encoder that is not there',
    { ...good, input: { tokens, encoderTokens: tokens } },
    cross,
    'data[1].input has encoderTokens: this model has no encoder',
  ],
  ['a temperature of 0', { ...good, distribution: { temperature: 0 } }, cross, 'data[1].distribution.temperature is 0'],
  [
    'a target that is blocked',
    { ...good, distribution: { blocked: [1] } },
    cross,
    'data[1].targets[1] is 1, which the distribution leaves without probability',
  ],
  [
    'a target outside the support',
    { ...drawn, distribution: { support: ragged([0, 1, 1, 2], [0, 3]) } },
    ppo,
    'data[1].targets[2] is 2, which the distribution leaves without probability',
  ],
  [
    'one of several targets that is blocked',
    {
      ...good,
      targets: ragged([0, 2, 2, 4], [1, 2, 3, 2]),
      weights: Float32Array.of(1, 0, 1, -0.5),
      distribution: { blocked: [2] },
    },
    cross,
    'data[1].weights[3] is -0.5, of 2, which the distribution leaves without probability',
  ],
  [
    'a token of the vocabulary outside the support',
    {
      ...good,
      targets: 'vocabulary',
      weights: at(7, 1, new Float32Array(15)),
      distribution: { support: ragged([0, 0, 2, 2], [1, 3]) },
    },
    cross,
    'data[1].weights[7] is 1, of 2, which the distribution leaves without probability',
  ],
  [
    'all tokens blocked',
    { ...good, distribution: { blocked: [0, 1, 2, 3, 4] } },
    cross,
    'blocked names every token of the vocabulary',
  ],
  [
    'a support that is blocked',
    { ...drawn, distribution: { blocked: [1], support: ragged([0, 0, 1, 1], [1]) } },
    ppo,
    'every token that the support has at position 1 is blocked',
  ],
  [
    'several targets with label smoothing',
    { ...good, targets: ragged([0, 2, 2, 3], [1, 2, 3]) },
    { ...cross, labelSmoothing: 0.1 },
    'data[1] has several targets a position: labelSmoothing takes single ones only',
  ],
  ['policy data for cross_entropy', drawn, cross, 'data[1] has no weights, which cross_entropy needs'],
  ['weights for a policy loss', good, ppo, 'data[1] has no advantages, which ppo needs'],
  [
    'too few advantages',
    { ...drawn, advantages: new Float32Array(2) },
    ppo,
    'data[1].advantages has 2 entries: expected 3',
  ],
  [
    'a log-probability that is infinite',
    { ...drawn, logProbabilities: at(2, Number.NEGATIVE_INFINITY, drawn.logProbabilities) },
    ppo,
    'data[1].logProbabilities[2] is -Infinity: expected a number, or an advantage of 0 to leave it out',
  ],
  ['a smoothing of 1', good, { ...cross, labelSmoothing: 1 }, 'labelSmoothing of cross_entropy is 1'],
  ['a negative z-loss', good, { ...cross, zLoss: -1 }, 'zLoss of cross_entropy is -1'],
  [
    'bounds the wrong way round',
    drawn,
    { ...ppo, clipLow: 2, clipHigh: 1 },
    'clipHigh of ppo is 1: expected a ratio from clipLow, 2, on',
  ],
  ['no beta', drawn, { kind: 'dro' } as unknown as Loss, 'beta of dro is undefined'],
  ['another loss', drawn, { kind: 'grpo' } as unknown as Loss, 'there is no loss of kind "grpo"'],
  [
    'an inner state that is not there',
    good,
    { ...cross, innerStateWeight: 1 },
    'innerStateWeight of cross_entropy: this model has no inner state',
  ],
])('%s', (_, datum, loss, sentence) => {
  it('is refused, and nothing is changed', async () => {
    const trainer = await shared
    const first = loss.kind === 'cross_entropy' ? good : drawn
    const data = [first, datum] as never[]
    await expect(trainer.forward(data, loss)).rejects.toThrow(sentence)
    await expect(trainer.forwardBackward(data, loss)).rejects.toThrow(sentence)
    const step = { groups: [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 1 } as const] }
    await expect(trainer.optimStep(step)).rejects.toThrow('there are no gradients')
  })
})

it('read-outs that are not there', async () => {
  await expect((await shared).forward([good], { kind: 'cross_entropy' }, { capture: ['hidden'] })).rejects.toThrow(
    'there is no read-out hidden; this model has none',
  )
})

it('what a model with an encoder and features reads', () => {
  const needy: Pick<Model, 'vocabulary' | 'contextLength' | 'inputs'> = {
    vocabulary: 5,
    contextLength: 4,
    inputs: { tokens: false, encoderTokens: true, encoderVocabulary: 9, encoderContextLength: 2, features: 2 },
  }
  const check = (input: Datum['input']) => () => checkData('forward', [{ ...good, input }], cross, needy)
  const features = new Float32Array(6)
  expect(check({ tokens, features })).toThrow('data[0].input has no encoderTokens, which this model reads')
  expect(check({ tokens, encoderTokens: tokens, features })).toThrow('has 3 encoderTokens: the encoder takes at most 2')
  const encoderTokens = Int32Array.from([8])
  expect(check({ tokens, encoderTokens })).toThrow(
    'input.features has 0 numbers: expected 6, 2 for each of 3 positions',
  )
  expect(check({ tokens, encoderTokens: Int32Array.from([9]), features })).toThrow('encoderTokens[0] is 9')
  // Tokens that are not read are not looked at.
  expect(check({ tokens: Int32Array.from([7, 7, 7]), encoderTokens, features })).not.toThrow()
})
