/**
 * What nobody knows is refused, wherever it is given: left out of account, a misspelt option would be its default, and nobody would see.
 */
import { afterAll, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { forwardBackwardCustom } from '../custom-loss.ts'
import { anyOrderSample } from '../diffusion/any-order-sample.ts'
import { denoiserOf } from '../diffusion/denoiser.ts'
import { duelLogLikelihoods } from '../diffusion/duel.ts'
import { maskedData } from '../diffusion/masking.ts'
import { leftToRight } from '../diffusion/unmasking-rule.ts'
import { forwardBackwardDistillation, teacherOf } from '../distillation/distillation.ts'
import { bigram } from '../models/bigram.ts'
import { decoder } from '../models/decoder.ts'
import { encoderDecoder } from '../models/encoder-decoder.ts'
import { inContextRegressor } from '../models/in-context-regressor.ts'
import { policyDatum } from '../policy-datum.ts'
import { createEmbeddedEngine } from './engine.ts'
import { createWorkerEngine } from './worker-engine.ts'

// biome-ignore lint/suspicious/noExplicitAny: What is given is not what the types say.
type Anything = any

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const model = bigram({ vocabulary: 5, contextLength: 4, initialDeviation: 1 })
const trainer: Anything = await engine.createTrainer({ model })
const sampler: Anything = await trainer.snapshot()
const denoiser = denoiserOf(trainer, 4)

const tokens = Int32Array.of(0, 1, 2)
const good = { input: { tokens }, targets: tokens, weights: Float32Array.of(1, 1, 0) }
const crossEntropy = { kind: 'cross_entropy' }
const group = { match: 'matrix', optimiser: { kind: 'adamw' }, learningRate: 1e-3 }
const pairs = { student: { tokens }, teacher: { tokens }, studentPositions: tokens, teacherPositions: tokens }
const sizes = { vocabulary: 5, contextLength: 4, depth: 1, width: 4, heads: 2 }
const prompt = { tokens }

const train = (datum: object, loss: object = crossEntropy, options?: object) =>
  trainer.forwardBackward([{ ...good, ...datum }], loss, options)
const step = (change: object, options: object = {}) =>
  trainer.optimStep({ groups: [{ ...group, ...change }], ...options })
const draw = (change: object, options?: object) => sampler.sample([{ prompt, maximumTokens: 1, ...change }], options)
const distil = (divergence: object, datum: object = {}, options?: object) =>
  forwardBackwardDistillation(
    trainer,
    teacherOf(trainer),
    [{ ...pairs, weights: good.weights, ...datum }],
    divergence as Anything,
    options,
  )
const masking = (change: object) =>
  maskedData([tokens], { maskToken: 4, random: seededRandom(1), ...change } as Anything)
const sample = { tokens, logProbabilities: good.weights, drawnLogProbabilities: good.weights, distribution: {} }

const cases: readonly [string, () => unknown][] = [
  [
    'createEmbeddedEngine: options: unknown option "thread": did you mean threads?',
    () => createEmbeddedEngine({ thread: 2 } as object),
  ],
  ['createTrainer: options: unknown option "sed"', () => engine.createTrainer({ model, sed: 1 } as Anything)],
  [
    'adapters: unknown option "ranks": did you mean rank?',
    () => engine.createTrainer({ model, adapters: { rank: 1, ranks: 1 } as Anything }),
  ],
  [
    'the loss: unknown option "label_smoothing": did you mean labelSmoothing?',
    () => train({}, { ...crossEntropy, label_smoothing: 0.1 }),
  ],
  ['the loss: unknown option "beta": known are kind, clipLow', () => train({}, { kind: 'ppo', beta: 0.1 })],
  [
    'there is no loss of kind "cross-entropy"; there are cross_entropy, importance_sampling',
    () => train({}, { kind: 'cross-entropy' }),
  ],
  ['data[0]: unknown option "distributions": did you mean distribution?', () => train({ distributions: {} })],
  ['data[0]: unknown option "adapters": did you mean adapter?', () => train({ adapters: false })],
  ['data[0].input: unknown option "token"', () => train({ input: { tokens, token: tokens } })],
  ['data[0].distribution: unknown option "temprature"', () => train({ distribution: { temprature: 2 } })],
  ['forwardBackward: options: unknown option "dropout_seed"', () => train({}, crossEntropy, { dropout_seed: null })],
  ['targets[2] is -100: expected a token from 0 to 4; a weight of 0', () => train({ targets: tokens.with(2, -100) })],
  ['optimStep: options: unknown option "clip": known are groups, clipNorm', () => step({}, { clip: 1 })],
  ['groups[0]: unknown option "weight_decay": did you mean weightDecay?', () => step({ weight_decay: 0.1 })],
  [
    'groups[0].optimiser: unknown option "beta1": did you mean betas?',
    () => step({ optimiser: { kind: 'adamw', beta1: 0.8 } }),
  ],
  ['groups[0].learningRate is "0.01": expected a number', () => step({ learningRate: '0.01' })],
  ['groups[0].match is "embeddings": the roles are embedding, matrix', () => step({ match: ['embeddings'] })],
  ['groups[0].match holds for no parameter: there are logits', () => step({ match: () => false })],
  ['load: options: unknown option "optimizer": did you mean optimiser?', () => trainer.load('', { optimizer: false })],
  ['snapshot: options: unknown option "quantization"', () => trainer.snapshot({ quantization: { bits: 4 } })],
  ['quantisation: unknown option "group_size"', () => trainer.snapshot({ quantisation: { bits: 4, group_size: 8 } })],
  ['requests[0]: unknown option "top_p": did you mean topP?', () => draw({ top_p: 0.5 })],
  ['sample: options: unknown option "signals": did you mean signal?', () => draw({}, { signals: 1 })],
  ['sample: options.signal is a plain object: expected an AbortSignal', () => draw({}, { signal: {} })],
  ['score: requests[0]: unknown option "target"', () => sampler.score([{ input: prompt, target: tokens }])],
  ['inputs[0]: unknown option "adapters"', () => sampler.distributions([{ input: prompt, adapters: false }])],
  [
    'beamSearch: requests[0]: unknown option "beam": did you mean beams?',
    () => sampler.beamSearch([{ prompt, beam: 2, maximumTokens: 1, stop: [] }]),
  ],
  [
    'beamSearch: requests[0].stop[0] is an array: expected a token; beams end at single tokens',
    () => sampler.beamSearch([{ prompt, beams: 2, maximumTokens: 1, stop: [[3]] }]),
  ],
  ['unknown option "layers": known are vocabulary', () => decoder({ ...sizes, layers: 4 } as object as typeof sizes)],
  [
    'memory: unknown option "slot": did you mean slots?',
    () => decoder({ ...sizes, memory: { slots: 4, chosen: 1, slot: 1 } as object as { slots: 4; chosen: 1 } }),
  ],
  [
    'unknown option "attention"',
    () => encoderDecoder({ ...sizes, encoderDepth: 1, attention: 'causal' } as object as Anything),
  ],
  [
    'unknown option "bin": did you mean bins?',
    () => inContextRegressor({ ...sizes, vocabulary: undefined, features: 1, bin: 3 } as Anything),
  ],
  ['bigram: unknown option "context"', () => bigram({ vocabulary: 5, contextLength: 4, context: 4 } as Anything)],
  [
    'forwardBackwardCustom: options: unknown option "seed"',
    () => forwardBackwardCustom(trainer, [good], (() => {}) as Anything, { seed: 1 } as object),
  ],
  [
    'what the custom loss returned: unknown option "metric": did you mean metrics?',
    () => forwardBackwardCustom(trainer, [good], gradients => ({ loss: 1, gradients, metric: {} }) as Anything),
  ],
  [
    'the custom loss is NaN: expected a finite number',
    () => forwardBackwardCustom(trainer, [good], gradients => ({ loss: Number.NaN, gradients })),
  ],
  ['divergence: kind is "kl": expected forward-kl, reverse-kl or jensen-shannon', () => distil({ kind: 'kl' })],
  ['divergence: unknown option "beta"', () => distil({ kind: 'forward-kl', beta: 0.5 })],
  ['data[0]: unknown option "adapter": known are student', () => distil({ kind: 'forward-kl' }, { adapter: false })],
  [
    'the teacher gives no distributions: give a sampler, or teacherOf(trainer)',
    () => forwardBackwardDistillation(trainer, trainer, [], { kind: 'forward-kl' }),
  ],
  ['the sample is an array', () => policyDatum(prompt, [sample] as Anything, 1)],
  ['the advantages are undefined', () => policyDatum(prompt, sample as Anything, undefined as Anything)],
  [
    'distribution is "drawn_": expected',
    () => policyDatum(prompt, sample as Anything, 1, { distribution: 'drawn_' as 'drawn' }),
  ],
  ['masking: masking is "Counted": expected independent or counted', () => masking({ masking: 'Counted' })],
  ['masking: random is undefined: expected random numbers', () => masking({ random: undefined })],
  ['masking: options: unknown option "level": did you mean levels?', () => masking({ level: 0.5 })],
  [
    'requests[0].rule is undefined: expected an unmasking rule',
    () => anyOrderSample(denoiser, [{ template: Int32Array.of(4) } as Anything]),
  ],
  [
    'requests[0]: unknown option "temprature"',
    () => anyOrderSample(denoiser, [{ template: Int32Array.of(4), rule: leftToRight(), temprature: 0 } as Anything]),
  ],
  ['rule is undefined', () => duelLogLikelihoods(denoiser, [tokens], undefined as Anything)],
]

it.each(cases)('%s', async (sentence, call) => {
  await trainer.forwardBackward([good], crossEntropy)
  await expect((async () => call())()).rejects.toThrow(sentence)
})

it('an option that is undefined is as good as absent', async () => {
  await train({ distributions: undefined }, { ...crossEntropy, label_smoothing: undefined })
})

it('the engine’s thread refuses the same', async () => {
  const worker = await createWorkerEngine()
  const trainer: Anything = await worker.createTrainer({ model })
  const sampler: Anything = await trainer.snapshot()
  await expect(trainer.forward([{ ...good, adapters: true }], crossEntropy)).rejects.toThrow('did you mean adapter?')
  await expect(trainer.optimStep({ groups: [group], clip: 1 })).rejects.toThrow('known are groups, clipNorm')
  await expect(sampler.sample([{ prompt, maximumTokens: 1 }], { abort: 1 })).rejects.toThrow('known are signal')
  await expect(sampler.sample([{ prompt, maximumTokens: 1, top_k: 1 }])).rejects.toThrow('did you mean topK?')
  const own = { ...model, kind: 'own' }
  await expect(worker.createTrainer({ model: own })).rejects.toThrow('use createEmbeddedEngine')
  await expect(worker.createTrainer({ model, sed: 1 } as Anything)).rejects.toThrow('did you mean seed?')
  await worker.dispose()
})
