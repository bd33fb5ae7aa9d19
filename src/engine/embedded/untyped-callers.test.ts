/**
 * Callers that no type checker has seen: each is told in a sentence what is wrong, before anything is computed, and the trainer and the
 * sampler go on as they were.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { forwardBackwardCustom } from '../custom-loss.ts'
import { forwardBackwardDistillation, teacherOf } from '../distillation/distillation.ts'
import type { Engine } from '../engine.ts'
import { bigram } from '../models/bigram.ts'
import { createEmbeddedEngine } from './engine.ts'

// biome-ignore lint/suspicious/noExplicitAny: What is given is not what the types say.
type Anything = any

const engine: Engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const model = bigram({ vocabulary: 5, contextLength: 4, initialDeviation: 1 })
const trainer: Anything = await engine.createTrainer({ model })
const sampler: Anything = await trainer.snapshot()
const own = await sampler.prefix({ tokens: Int32Array.of(1, 2) })

const tokens = Int32Array.of(0, 1, 2)
const plain = [0, 1, 2]
const crossEntropy = { kind: 'cross_entropy' }
const good = { input: { tokens }, targets: tokens, weights: Float32Array.of(1, -1, 0) }
const drawn = {
  input: { tokens },
  targets: tokens,
  logProbabilities: Float32Array.of(-1, -1, -1),
  advantages: good.weights,
}
const group = { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 1e-3 }

const train = (data: unknown, loss: unknown = crossEntropy, options?: unknown) =>
  trainer.forwardBackward(data, loss, options)
const datum = (change: object) => train([good, { ...good, ...change }])
const policy = (change: object) => train([drawn, { ...drawn, ...change }], { kind: 'ppo' })
const step = (change: object) => trainer.optimStep({ groups: [{ ...group, ...change }] })
const draw = (change: object) => sampler.sample([{ prompt: { tokens }, maximumTokens: 1, ...change }])
const score = (change: object) => sampler.score([{ input: { tokens }, targets: tokens, ...change }])
const beam = (change: object) =>
  sampler.beamSearch([{ prompt: { tokens }, beams: 1, maximumTokens: 1, stop: [], ...change }])
const distil = (change: object) =>
  forwardBackwardDistillation(
    trainer,
    teacherOf(trainer),
    [
      {
        student: { tokens },
        teacher: { tokens },
        studentPositions: tokens,
        teacherPositions: tokens,
        ...change,
      } as Anything,
    ],
    { kind: 'forward-kl' },
  )

const cases: readonly [string, () => Promise<unknown>][] = [
  ['forwardBackward: data is undefined: expected an array', () => train(undefined)],
  ['forwardBackward: data is a plain object: expected an array', () => train(good)],
  ['forwardBackward: data[1] is null: expected an object', () => train([good, null])],
  ['forwardBackward: the loss is undefined: expected an object', () => trainer.forwardBackward([good])],
  ['forwardBackward: the loss is "cross_entropy": expected an object', () => train([good], 'cross_entropy')],
  [
    'labelSmoothing of cross_entropy is "0.1": expected a number',
    () => train([good], { ...crossEntropy, labelSmoothing: '0.1' }),
  ],
  ['data[1].input is of type Int32Array: expected an object', () => datum({ input: tokens })],
  ['data[1].input.tokens is undefined: expected an Int32Array', () => datum({ input: {} })],
  ['data[1].input.tokens is a plain array: expected an Int32Array', () => datum({ input: { tokens: plain } })],
  ['data[1].targets is a plain array: expected an Int32Array, { tokens', () => datum({ targets: plain })],
  ['data[1].targets is undefined: expected an Int32Array, { tokens', () => datum({ targets: undefined })],
  ['data[1].targets.offsets is a plain array', () => datum({ targets: { tokens, offsets: [0, 1, 2, 3] } })],
  ['data[1].weights is of type Float64Array', () => datum({ weights: Float64Array.of(1, 1, 1) })],
  ['data[1].distribution is null: expected an object', () => datum({ distribution: null })],
  ['data[1].distribution.blocked is of type Set', () => datum({ distribution: { blocked: new Set([4]) } })],
  ['data[1].distribution.support is a plain array', () => datum({ distribution: { support: [plain] } })],
  [
    'temperature is 1e-7: expected a positive number, 0.000001 or more',
    () => datum({ distribution: { temperature: 1e-7 } }),
  ],
  ['data[1].targets is "vocabulary": expected an Int32Array', () => policy({ targets: 'vocabulary' })],
  ['data[1].logProbabilities is undefined', () => policy({ logProbabilities: undefined })],
  ['data[1].advantages is a plain array', () => policy({ advantages: plain })],
  ['capture is "hidden": expected an array', () => train([good], crossEntropy, { capture: 'hidden' })],
  ['dropoutSeed is NaN: expected a finite number', () => train([good], crossEntropy, { dropoutSeed: Number.NaN })],
  ['optimStep: groups is undefined: expected an array', () => trainer.optimStep({})],
  ['optimStep: groups[0] is null: expected an object', () => trainer.optimStep({ groups: [null] })],
  ['optimStep: groups[0].optimiser is "adamw": expected an object', () => step({ optimiser: 'adamw' })],
  ['optimStep: groups[0].match is undefined: expected a role', () => step({ match: undefined })],
  ['setValues: the values are a plain object: expected a Map', () => trainer.setValues({ logits: plain })],
  [
    'setValues: logits is undefined: expected a Float32Array',
    () => trainer.setValues(new Map([['logits', undefined]])),
  ],
  ['logitOffset is a plain array: expected a Float32Array', () => trainer.snapshot({ logitOffset: [0, 0, 0, 0, 0] })],
  ['cannot write a folder: its path is ""', () => trainer.save('')],
  ['createTrainer: model is undefined', () => engine.createTrainer({} as Anything)],
  [
    'createTrainer: model has no function build',
    () => engine.createTrainer({ model: model.configuration } as Anything),
  ],
  [
    'createTrainer: seed is "one": expected a finite number',
    () => engine.createTrainer({ model, seed: 'one' } as Anything),
  ],
  ['rank is 1000000000: above 5', () => engine.createTrainer({ model, adapters: { rank: 1e9 } })],
  ['what the custom loss returned is undefined', () => forwardBackwardCustom(trainer, [good], (() => {}) as Anything)],
  ['which must not be asynchronous', () => forwardBackwardCustom(trainer, [good], (async () => {}) as Anything)],
  [
    'forwardBackwardCustom: data is undefined',
    () => forwardBackwardCustom(trainer, undefined as Anything, () => good as Anything),
  ],
  ['data[0].weights is undefined: expected a Float32Array', () => distil({})],
  [
    'studentPositions is of type Float32Array: expected an Int32Array',
    () => distil({ studentPositions: Float32Array.of(0.5, 1, 2) }),
  ],
  ['sample: requests is a plain object', () => sampler.sample(good)],
  ['requests[0].prompt is undefined: expected an object', () => draw({ prompt: undefined })],
  ['requests[0].prompt is of type Int32Array', () => draw({ prompt: tokens })],
  ['requests[0].prompt.tokens is a plain array', () => draw({ prompt: { tokens: plain } })],
  // Taken for sequences, these numbers would never end a sample.
  ['requests[0].stop[0] is 1: expected an array', () => draw({ stop: [1, 2] })],
  ['requests[0].blocked is of type Set', () => draw({ blocked: new Set([1]) })],
  ['requests[0].key is NaN: expected a text or a finite number', () => draw({ key: Number.NaN })],
  ['requests[0].topP is "0.5": expected a number', () => draw({ topP: '0.5' })],
  ['score: requests[0].targets is a plain array', () => score({ targets: plain })],
  ['score: requests[0].input is undefined', () => score({ input: undefined })],
  ['distributions: inputs is undefined', () => sampler.distributions()],
  ['prefix: prompt is of type Int32Array', () => sampler.prefix(tokens)],
  ['extend: tokens is undefined', () => sampler.extend(own)],
  ['beamSearch: requests[0].stop is undefined', () => beam({ stop: undefined })],
  ['beamSearch: requests[0].prompt is undefined', () => beam({ prompt: undefined })],
  ['the constraint has no array of Maps', () => beam({ constraint: { next: [{ 1: 0 }] } })],
  ['leads from state 0 to length', () => beam({ constraint: { next: [new Map([[1, 'length']])] } })],
]

describe('one sentence each', async () => {
  await trainer.forwardBackward([good], crossEntropy)
  const state = async () => [await trainer.values(), await trainer.gradients(), trainer.version]
  const before = await state()
  it.each(cases)('%s', async (sentence, call) => {
    await expect(call()).rejects.toThrow(sentence)
    expect(await state()).toEqual(before)
  })
})

it('a datum with the fields of both losses is one of the loss that is asked for', async () => {
  const both = { ...good, ...drawn }
  expect(await trainer.forward([both], { kind: 'ppo' })).toEqual(await trainer.forward([drawn], { kind: 'ppo' }))
  expect(await trainer.forward([both], crossEntropy)).toEqual(await trainer.forward([good], crossEntropy))
})

it('a prefix keeps its tokens when the array that it was made of is written to again', async () => {
  const buffer = Int32Array.of(1, 2)
  const request = { maximumTokens: 3, samples: 4, key: 'one' }
  const prefix = await sampler.prefix({ tokens: buffer })
  const before = await sampler.sample([{ ...request, prompt: prefix }])
  buffer.fill(3)
  expect(prefix.tokens).toEqual(Int32Array.of(1, 2))
  expect(await sampler.sample([{ ...request, prompt: prefix }])).toEqual(before)
})

it('weights that diverged are not sampled from', async () => {
  const diverged = await engine.createTrainer({
    model,
    values: new Map([['logits', new Float32Array(25).fill(Number.NaN)]]),
  })
  const broken = await diverged.snapshot()
  const request = { prompt: { tokens }, maximumTokens: 1 }
  for (const change of [{}, { topP: 0.5 }, { topK: 2 }, { temperature: 0 }, { blocked: [1], temperature: 2 }])
    await expect(broken.sample([{ ...request, ...change }])).rejects.toThrow('have the weights diverged?')
})
