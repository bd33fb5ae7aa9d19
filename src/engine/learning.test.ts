/**
 * It learns: a text by heart, to copy what it has seen, and the entropy of a source of random tokens.
 */
import { expect, it } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import type { DecoderConfiguration } from './models/decoder-configuration.ts'
import type { ParameterGroup } from './optimisers/optimiser.ts'
import { createDecoderTrainer, type TokenBatch, type Trainer } from './trainer.ts'

const configuration: DecoderConfiguration = {
  vocabulary: 256,
  contextLength: 32,
  depth: 2,
  width: 32,
  heads: 2,
  keyValueHeads: 2,
  positions: 'rotary',
  norm: 'pre',
  queryKeyNorm: false,
  activation: 'swiglu',
  tiedEmbeddings: true,
  logitSoftCap: null,
  initialisationScale: 1,
  residualScaling: 'none',
}
const adamw: ParameterGroup = { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 }
const muon: ParameterGroup = { match: 'matrix', optimiser: { kind: 'muon' }, learningRate: 0.03 }

/** Linear decay to a tenth, so that the last steps settle. */
async function train(trainer: Trainer, steps: number, groups: readonly ParameterGroup[], next: () => TokenBatch) {
  for (let step = 0; step < steps; step++) {
    await trainer.forwardBackward(next())
    const decay = 1 - (0.9 * step) / steps
    const decayed = groups.map(group => ({ ...group, learningRate: group.learningRate * decay }))
    await trainer.optimStep({ groups: decayed, clipNorm: 1 })
  }
}

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
  const batch: TokenBatch = {
    tokens: Int32Array.from(starts.flatMap(start => [...text.subarray(start, start + 32)])),
    targets: Int32Array.from(starts.flatMap(start => [...text.subarray(start + 1, start + 33)])),
    weights: new Float32Array(rows * 32).fill(1 / (rows * 32)),
  }
  const trainer = await createDecoderTrainer({ configuration, batch: rows, sequence: 32, threads: 1, seed: 1 })
  const before = await trainer.forward(batch)
  expect(before.lossSum).toBeGreaterThan(Math.log(256) - 0.5)
  await train(trainer, 120, groups, () => batch)
  // What cannot be known is which of the eight rows it is, at the first bytes: under 0.05 nats a byte.
  expect((await trainer.forward(batch)).lossSum).toBeLessThan(0.1)
  await trainer.dispose()
})

it('to copy: random tokens, a mark, the same tokens again', async () => {
  const length = 6
  const [rows, sequence] = [32, 2 * length]
  const random = seededRandom('copy')
  const next = (): TokenBatch => {
    const tokens: number[] = []
    const targets: number[] = []
    for (let row = 0; row < rows; row++) {
      const word = Array.from({ length }, () => random.integer(8))
      const whole = [...word, 8, ...word]
      tokens.push(...whole.slice(0, -1))
      targets.push(...whole.slice(1))
    }
    const copied = (_: unknown, index: number) => (index % sequence >= length ? 1 / (rows * length) : 0)
    return {
      tokens: Int32Array.from(tokens),
      targets: Int32Array.from(targets),
      weights: Float32Array.from({ length: tokens.length }, copied),
    }
  }
  const small = { ...configuration, vocabulary: 9, contextLength: sequence }
  const trainer = await createDecoderTrainer({ configuration: small, batch: rows, sequence, threads: 1, seed: 2 })
  expect((await trainer.forward(next())).lossSum).toBeGreaterThan(2)
  await train(trainer, 400, [adamw], next)
  expect((await trainer.forward(next())).lossSum).toBeLessThan(0.05)
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
  const [rows, sequence] = [32, 16]
  const next = (): TokenBatch => {
    const stream = Int32Array.from({ length: rows * sequence + 1 }, draw)
    return {
      tokens: stream.subarray(0, -1),
      targets: stream.subarray(1),
      weights: new Float32Array(rows * sequence).fill(1 / (rows * sequence)),
    }
  }
  const small = { ...configuration, vocabulary: 4, width: 16, depth: 1 }
  const trainer = await createDecoderTrainer({ configuration: small, batch: rows, sequence, threads: 1, seed: 3 })
  await train(trainer, 150, [adamw], next)
  let loss = 0
  for (let batch = 0; batch < 20; batch++) loss += (await trainer.forward(next())).lossSum / 20
  expect(Math.abs(loss - entropy)).toBeLessThan(0.03)
  await trainer.dispose()
})
