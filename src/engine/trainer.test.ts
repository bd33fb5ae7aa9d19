/**
 * Training through the front door: same numbers whatever the threads and the size of micro-batches, gradients that
 * accumulate, groups, freezing, clipping, and what is refused.
 */
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import type { DecoderConfiguration } from './models/decoder-configuration.ts'
import type { ParameterGroup } from './optimisers/optimiser.ts'
import { createDecoderTrainer, type DecoderTrainerOptions, type TokenBatch, type Trainer } from './trainer.ts'

const configuration: DecoderConfiguration = {
  vocabulary: 16,
  contextLength: 8,
  depth: 2,
  width: 16,
  heads: 2,
  keyValueHeads: 1,
  positions: 'rotary',
  norm: 'pre',
  queryKeyNorm: true,
  activation: 'swiglu',
  tiedEmbeddings: false,
  logitSoftCap: 15,
  initialisationScale: 1,
  residualScaling: 'depth',
}

const adamw: ParameterGroup = { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01, weightDecay: 0.1 }
const muon: ParameterGroup = { match: 'matrix', optimiser: { kind: 'muon' }, learningRate: 0.02 }

const trainers: Trainer[] = []
afterEach(async () => {
  for (const trainer of trainers.splice(0)) await trainer.dispose()
})

async function create(options: Partial<DecoderTrainerOptions> = {}): Promise<Trainer> {
  const trainer = await createDecoderTrainer({
    configuration,
    batch: 4,
    sequence: 8,
    threads: 1,
    seed: 1,
    ...options,
  })
  trainers.push(trainer)
  return trainer
}

function randomBatch(rows: number, sequence: number, vocabulary: number, seed: number): TokenBatch {
  const random = seededRandom(seed)
  const count = rows * sequence
  return {
    tokens: Int32Array.from({ length: count }, () => random.integer(vocabulary)),
    targets: Int32Array.from({ length: count }, () => random.integer(vocabulary)),
    weights: Float32Array.from({ length: count }, () => random.uniform() / count),
  }
}

function hashOf(trainer: Trainer): string {
  const hash = createHash('sha256')
  for (const [name, values] of trainer.values()) hash.update(name).update(new Uint8Array(values.buffer))
  return hash.digest('hex')
}

describe('the same seed gives the same numbers, bit by bit', () => {
  // Large enough that the runtime really divides its work among threads.
  const large = {
    ...configuration,
    vocabulary: 256,
    contextLength: 64,
    width: 96,
    heads: 4,
    keyValueHeads: 4,
    depth: 2,
  }
  const trained = async (threads: number, seed: number) => {
    const trainer = await create({ configuration: large, batch: 16, sequence: 64, threads, seed, zLoss: 1e-4 })
    const losses: number[] = []
    for (let step = 0; step < 4; step++) {
      losses.push((await trainer.forwardBackward(randomBatch(16, 64, 256, step))).lossSum)
      await trainer.optimStep({ groups: [muon, adamw], clipNorm: 1 })
    }
    return { losses, hash: hashOf(trainer) }
  }

  it('on one thread and on two, again and again; another seed gives others', async () => {
    const first = await trained(1, 5)
    expect(await trained(1, 5)).toEqual(first)
    for (let time = 0; time < 2; time++) expect(await trained(2, 5)).toEqual(first)
    expect((await trained(1, 6)).hash).not.toBe(first.hash)
  })
})

describe('forward and forwardBackward', () => {
  it('agree, and the loss is the weighted sum of the log-probabilities', async () => {
    const trainer = await create()
    const batch = randomBatch(4, 8, 16, 1)
    const forward = await trainer.forward(batch)
    const both = await trainer.forwardBackward(batch)
    expect(both.tokenLogProbabilities).toEqual(forward.tokenLogProbabilities)
    const sum = batch.weights.reduce(
      (total, weight, index) => total - weight * forward.tokenLogProbabilities[index]!,
      0,
    )
    expect(forward.lossSum).toBeCloseTo(sum, 12)
    expect(forward.zLossSum).toBe(0)
  })

  it('split and pad batches of any number of rows', async () => {
    const whole = await create({ batch: 7 })
    const split = await create({ batch: 3 })
    const batch = randomBatch(7, 8, 16, 2)
    const a = await whole.forwardBackward(batch)
    const b = await split.forwardBackward(batch)
    expect(b.tokenLogProbabilities).toHaveLength(56)
    expect(b.lossSum).toBeCloseTo(a.lossSum, 6)
    for (const [name, gradient] of whole.gradients())
      for (const [index, value] of gradient.entries())
        expect(split.gradients().get(name)![index], name).toBeCloseTo(value, 6)
  })

  it('accumulate until the step, which clears', async () => {
    const trainer = await create()
    const [first, second] = [randomBatch(4, 8, 16, 3), randomBatch(4, 8, 16, 4)]
    const gradientOf = async (...batches: TokenBatch[]) => {
      for (const batch of batches) await trainer.forwardBackward(batch)
      const gradient = trainer.gradients().get('embedding')!.slice()
      await trainer.optimStep({ groups: [{ ...adamw, learningRate: 0 }] })
      return gradient
    }
    const [a, b, both] = [await gradientOf(first), await gradientOf(second), await gradientOf(first, second)]
    for (const [index, value] of both.entries()) expect(value).toBeCloseTo(a[index]! + b[index]!, 6)
    expect(new Set(trainer.gradients().get('embedding'))).toEqual(new Set([0]))
    await expect(trainer.optimStep({ groups: [adamw] })).rejects.toThrow('there are no gradients')
  })

  it('the z-loss is the mean square of the log of the sum of exponentials, and is differentiated', async () => {
    const plain = await create()
    const regularised = await create({ zLoss: 0.5 })
    const batch = randomBatch(4, 8, 16, 5)
    const a = await plain.forwardBackward(batch)
    const b = await regularised.forwardBackward(batch)
    expect(b.lossSum).toBeCloseTo(a.lossSum, 6)
    // At the start logits are small: the sum of exponentials is near the vocabulary's size.
    const weight = batch.weights.reduce((sum, value) => sum + value)
    expect(b.zLossSum / (0.5 * weight * Math.log(16) ** 2)).toBeCloseTo(1, 1)
    expect(regularised.gradients().get('head')).not.toEqual(plain.gradients().get('head'))
  })

  it('weights of zero leave a position out', async () => {
    const trainer = await create()
    const batch = randomBatch(4, 8, 16, 6)
    batch.weights.fill(0, 8)
    const four = await trainer.forwardBackward(batch)
    const gradient = trainer.gradients().get('head')!.slice()
    await trainer.optimStep({ groups: [{ ...adamw, learningRate: 0 }] })
    const row = (array: Int32Array) => array.subarray(0, 8)
    const one = { tokens: row(batch.tokens), targets: row(batch.targets), weights: batch.weights.subarray(0, 8) }
    expect((await trainer.forwardBackward(one)).lossSum).toBeCloseTo(four.lossSum, 6)
    for (const [index, value] of trainer.gradients().get('head')!.entries())
      expect(value).toBeCloseTo(gradient[index]!, 6)
  })
})

describe('optimStep', () => {
  it('moves what its groups say and nothing frozen; the first group that matches counts', async () => {
    const trainer = await create()
    await trainer.forwardBackward(randomBatch(4, 8, 16, 7))
    const before = new Map([...trainer.values()].map(([name, values]) => [name, values.slice()]))
    const frozen: ParameterGroup = { ...adamw, match: ['embedding', 'gain'], frozen: true }
    const still: ParameterGroup = { ...adamw, match: parameter => parameter.name.endsWith('.query'), learningRate: 0 }
    await trainer.optimStep({ groups: [frozen, still, muon, adamw] })
    for (const { name, role } of trainer.parameters) {
      const stays = role === 'embedding' || role === 'gain' || name.endsWith('.query')
      const same = Buffer.from(before.get(name)!.buffer).equals(Buffer.from(trainer.values().get(name)!.buffer))
      expect(same, name).toBe(stays)
    }
  })

  it('reports the norm before clipping, and clips to it', async () => {
    const trainer = await create()
    const batch = randomBatch(4, 8, 16, 8)
    await trainer.forwardBackward(batch)
    const squares = [...trainer.gradients().values()].map(array => array.reduce((sum, value) => sum + value ** 2, 0))
    const expected = Math.sqrt(squares.reduce((sum, value) => sum + value))
    // Without momentum and with an epsilon that dwarfs the root of the second moment, a step is proportional to the gradient.
    const proportional: ParameterGroup = {
      match: () => true,
      optimiser: { kind: 'adamw', betas: [0, 0], epsilon: 1e6 },
      learningRate: 1e6,
    }
    const before = trainer.values().get('head')!.slice()
    const gradient = trainer.gradients().get('head')!.slice()
    const { gradientNorm } = await trainer.optimStep({ groups: [proportional], clipNorm: expected / 4 })
    expect(gradientNorm).toBeCloseTo(expected, 6)
    for (const [index, value] of trainer.values().get('head')!.entries())
      expect(before[index]! - value).toBeCloseTo(gradient[index]! / 4, 6)
  })

  it.each<readonly [string, ParameterGroup[], string]>([
    ['a parameter without a group', [muon], 'no group matches embedding (embedding)'],
    [
      'Muon for a vector',
      [{ ...muon, match: () => true }],
      'Muon moves matrices only, and blocks.0.attention.norm has shape (16)',
    ],
    ['a negative rate', [{ ...adamw, learningRate: -1 }], 'learningRate is -1'],
    ['an epsilon of zero', [{ ...adamw, optimiser: { kind: 'adamw', epsilon: 0 } }], 'epsilon is 0'],
    ['betas of one', [{ ...adamw, optimiser: { kind: 'adamw', betas: [0.9, 1] } }], 'betas is 0.9,1'],
  ])('refuses %s and keeps the gradients', async (_, groups, sentence) => {
    const trainer = await create()
    await trainer.forwardBackward(randomBatch(4, 8, 16, 9))
    const before = hashOf(trainer)
    await expect(trainer.optimStep({ groups })).rejects.toThrow(sentence)
    expect(hashOf(trainer)).toBe(before)
    await trainer.optimStep({ groups: [adamw] })
    expect(hashOf(trainer)).not.toBe(before)
  })
})

describe('what is refused', () => {
  it('a batch whose arrays do not fit, or with tokens outside the vocabulary', async () => {
    const trainer = await create()
    const batch = randomBatch(4, 8, 16, 10)
    await expect(trainer.forward({ ...batch, weights: batch.weights.subarray(1) })).rejects.toThrow(
      'The batch has 32 tokens, 32 targets and 31 weights',
    )
    const odd = {
      tokens: batch.tokens.subarray(1),
      targets: batch.targets.subarray(1),
      weights: batch.weights.subarray(1),
    }
    await expect(trainer.forward(odd)).rejects.toThrow('The batch has 31 tokens: expected whole rows of 8')
    const outside = batch.tokens.slice()
    outside[3] = -1
    await expect(trainer.forwardBackward({ ...batch, tokens: outside })).rejects.toThrow(
      'tokens[3] is -1, expected a whole number from 0 to 15',
    )
    outside[3] = 16
    await expect(trainer.forwardBackward({ ...batch, targets: outside })).rejects.toThrow('targets[3] is 16')
    await expect(trainer.optimStep({ groups: [adamw] })).rejects.toThrow('there are no gradients')
  })

  it('options that make no sense, all named at once', async () => {
    await expect(create({ batch: 0, sequence: 9, zLoss: -1 })).rejects.toThrow(
      'batch is 0: expected a positive whole number; sequence is 9: expected at most contextLength, which is 8; zLoss is -1',
    )
    await expect(create({ configuration: { ...configuration, heads: 3 } })).rejects.toThrow('width is 16')
  })

  it('a second call before the first has ended, and any after the end', async () => {
    const trainer = await create()
    const batch = randomBatch(4, 8, 16, 11)
    const first = trainer.forwardBackward(batch)
    await expect(trainer.forward(batch)).rejects.toThrow('still at work')
    await first
    await trainer.dispose()
    await expect(trainer.forward(batch)).rejects.toThrow('disposed')
    await trainer.dispose()
  })
})
