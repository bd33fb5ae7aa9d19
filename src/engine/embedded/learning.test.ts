/**
 * It learns: a text by heart, and the entropy of a source of random tokens and no less. What rewards say is learned in ../reinforce.test.ts.
 */
import { afterAll, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import type { CrossEntropyDatum } from '../datum.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import type { ParameterGroup } from '../optimisers/optimiser.ts'
import type { Trainer } from '../training.ts'
import { createEmbeddedEngine } from './engine.ts'

const configuration: DecoderOptions = {
  vocabulary: 256,
  contextLength: 32,
  depth: 2,
  width: 32,
  heads: 2,
  tiedEmbeddings: true,
}
const adamw: ParameterGroup = { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 }
const muon: ParameterGroup = { match: 'matrix', optimiser: { kind: 'muon' }, learningRate: 0.03 }

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const loss = { kind: 'cross_entropy' } as const

/** Linear decay to a tenth, so that the last steps settle. */
const decayed = (groups: readonly ParameterGroup[], step: number, steps: number) => ({
  groups: groups.map(group => ({ ...group, learningRate: group.learningRate * (1 - (0.9 * step) / steps) })),
  clipNorm: 1,
})

async function train(
  trainer: Trainer,
  steps: number,
  groups: readonly ParameterGroup[],
  next: () => CrossEntropyDatum[],
) {
  for (let step = 0; step < steps; step++) {
    await trainer.forwardBackward(next(), loss)
    await trainer.optimStep(decayed(groups, step, steps))
  }
}

/** Every token after the first is predicted; together the weights are 1. */
const nextTokens = (rows: readonly ArrayLike<number>[]): CrossEntropyDatum[] =>
  rows.map(row => {
    const tokens = Int32Array.from(row)
    const weights = new Float32Array(tokens.length - 1).fill(1 / (rows.length * (tokens.length - 1)))
    return { input: { tokens: tokens.subarray(0, -1) }, targets: tokens.subarray(1), weights }
  })

it.each([
  ['AdamW', [adamw]],
  ['Muon', [muon, adamw]],
] as const)('a text by heart, with %s', async (_, groups) => {
  const text = Buffer.from(
    'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and nothing ' +
      'particular to interest me on shore, I thought I would sail about a little and see the watery part of the world.',
  )
  const rows = 8
  const starts = Array.from({ length: rows }, (_, row) => Math.floor((row * (text.length - 33)) / (rows - 1)))
  const data = nextTokens(starts.map(start => text.subarray(start, start + 33)))
  const trainer = await engine.createTrainer({ model: decoder({ ...configuration, depth: 1 }), seed: 1 })
  expect((await trainer.forward(data, loss)).lossSum).toBeGreaterThan(Math.log(256) - 0.5)
  await train(trainer, 80, groups, () => data)
  // What cannot be known is which of the eight rows it is, at the first bytes: under 0.05 nats a byte.
  expect((await trainer.forward(data, loss)).lossSum).toBeLessThan(0.1)
  await trainer.dispose()
})

it('the entropy of a source of random tokens, and no less', async () => {
  const probabilities = [0.5, 0.25, 0.125, 0.125]
  const entropy = -probabilities.reduce((sum, p) => sum + p * Math.log(p), 0)
  const random = seededRandom('source')
  const draw = () => {
    const uniform = random.uniform()
    return uniform < 0.5 ? 0 : uniform < 0.75 ? 1 : uniform < 0.875 ? 2 : 3
  }
  const next = () => nextTokens(Array.from({ length: 32 }, () => Array.from({ length: 17 }, draw)))
  const model = decoder({ ...configuration, vocabulary: 4, width: 16, depth: 1 })
  const trainer = await engine.createTrainer({ model, seed: 3 })
  await train(trainer, 100, [adamw], next)
  let mean = 0
  for (let batch = 0; batch < 20; batch++) mean += (await trainer.forward(next(), loss)).lossSum / 20
  expect(Math.abs(mean - entropy)).toBeLessThan(0.03)
  await trainer.dispose()
})
