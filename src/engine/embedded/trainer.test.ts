/**
 * Training through the front door: same numbers whatever the threads and the pieces that data are cut into, calls in their order, gradients
 * that accumulate, groups, freezing, clipping.
 */
import { createHash } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import type { CrossEntropyDatum } from '../datum.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import type { ParameterGroup } from '../optimisers/optimiser.ts'
import type { ParameterArrays, Trainer } from '../training.ts'
import { createEmbeddedEngine } from './engine.ts'

const configuration: DecoderOptions = {
  vocabulary: 16,
  contextLength: 8,
  depth: 2,
  width: 16,
  heads: 2,
  keyValueHeads: 1,
  queryKeyNorm: true,
  logitSoftCap: 15,
  residualScaling: 'depth',
}
const model = decoder(configuration)
const loss = { kind: 'cross_entropy' } as const

const adamw: ParameterGroup = { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01, weightDecay: 0.1 }
const muon: ParameterGroup = { match: 'matrix', optimiser: { kind: 'muon' }, learningRate: 0.02 }

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
/** Compiled once for all cases that leave its parameters as they are. */
const shared = engine.createTrainer({ model, seed: 1 })

function randomDatum(length: number, vocabulary: number, seed: number): CrossEntropyDatum {
  const random = seededRandom(seed)
  return {
    input: { tokens: Int32Array.from({ length }, () => random.integer(vocabulary)) },
    targets: Int32Array.from({ length }, () => random.integer(vocabulary)),
    weights: Float32Array.from({ length }, () => (random.uniform() - 0.3) / length),
  }
}

const rows = (count: number, seed: number, length = 8) =>
  Array.from({ length: count }, (_, row) => randomDatum(length, 16, 100 * seed + row))

async function hashOf(trainer: Trainer): Promise<string> {
  const hash = createHash('sha256')
  for (const [name, values] of await trainer.values()) hash.update(name).update(new Uint8Array(values.buffer))
  return hash.digest('hex')
}

async function gradientsOf(trainer: Trainer, ...batches: (readonly CrossEntropyDatum[])[]): Promise<ParameterArrays> {
  for (const batch of batches) await trainer.forwardBackward(batch, loss)
  const gradients = await trainer.gradients()
  await trainer.clearGradients()
  return gradients
}

function expectClose(actual: ParameterArrays, expected: ParameterArrays, digits = 6): void {
  expect([...actual.keys()]).toEqual([...expected.keys()])
  for (const [name, values] of expected)
    for (const [index, value] of values.entries())
      expect(actual.get(name)![index], `${name}[${index}]`).toBeCloseTo(value, digits)
}

describe('the same seed gives the same numbers, bit by bit', () => {
  // Large enough that the runtime really divides its work among threads.
  const large = decoder({
    ...configuration,
    vocabulary: 256,
    contextLength: 64,
    depth: 1,
    width: 96,
    heads: 4,
    keyValueHeads: 4,
  })
  const trained = async (threads: number) => {
    const own = createEmbeddedEngine({ threads })
    const trainer = await own.createTrainer({ model: large, seed: 5 })
    const losses: number[] = []
    for (let step = 0; step < 2; step++) {
      const data = Array.from({ length: 8 }, (_, row) => randomDatum(64, 256, 100 * step + row))
      const several = {
        ...data[0]!,
        targets: { tokens: data[1]!.targets as Int32Array, offsets: Int32Array.from({ length: 65 }, (_, i) => i) },
      }
      losses.push((await trainer.forwardBackward(data, { ...loss, zLoss: 1e-4 })).lossSum)
      losses.push((await trainer.forwardBackward([several], loss)).lossSum)
      await trainer.optimStep({ groups: [muon, adamw], clipNorm: 1 })
    }
    const hash = await hashOf(trainer)
    await own.dispose()
    return { losses, hash }
  }

  it('on one thread and on two, again and again', async () => {
    const first = await trained(1)
    for (let time = 0; time < 2; time++) expect(await trained(2)).toEqual(first)
  })
})

describe('forward and forwardBackward', () => {
  it('agree, and the loss is the weighted sum of the log-probabilities', async () => {
    const trainer = await shared
    const data = rows(4, 1)
    const forward = await trainer.forward(data, loss)
    const both = await trainer.forwardBackward(data, loss)
    await trainer.clearGradients()
    expect(both).toEqual(forward)
    const sum = data.reduce(
      (total, { weights }, row) =>
        weights.reduce((inner, weight, i) => inner - weight * forward.logProbabilities[row]![i]!, total),
      0,
    )
    expect(forward.lossSum).toBeCloseTo(sum, 6)
    expect(forward.parts).toEqual({})
  })

  it('give each datum what it has alone, whatever the lengths and the pieces', async () => {
    const trainer = await shared
    const data = [5, 8, 1, 3, 8, 2, 7].map((length, index) => randomDatum(length, 16, index))
    const together = await trainer.forward(data, loss)
    const inPieces = await createEmbeddedEngine({ tokensAtOnce: 12 }).createTrainer({ model, seed: 1 })
    const cut = await inPieces.forwardBackward(data, loss)
    for (const [index, datum] of data.entries()) {
      const alone = await trainer.forward([datum], loss)
      const expected = alone.logProbabilities[0]!
      for (const found of [together, cut]) {
        expect(found.logProbabilities[index]).toHaveLength(datum.input.tokens.length)
        for (const [position, value] of expected.entries())
          expect(found.logProbabilities[index]![position]).toBeCloseTo(value, 5)
      }
    }
    expectClose(await inPieces.gradients(), await gradientsOf(trainer, data))
    await inPieces.dispose()
  })

  it('tell models that look both ways where the padding of each row begins', async () => {
    const both = decoder({ ...configuration, attention: 'bidirectional' })
    const trainer = await engine.createTrainer({ model: both, seed: 1 })
    const [short, long] = [randomDatum(5, 16, 1), randomDatum(8, 16, 2)]
    const padded = await trainer.forward([long, short], loss)
    const exact = await trainer.forward([short, short, short, short], loss)
    for (const [position, value] of exact.logProbabilities[0]!.entries())
      expect(padded.logProbabilities[1]![position]).toBeCloseTo(value, 5)
    const last = short.input.tokens.with(4, (short.input.tokens[4]! + 1) % 16)
    const changed = await trainer.forward([long, { ...short, input: { tokens: last } }], loss)
    expect(changed.logProbabilities[1]![0]).not.toBeCloseTo(padded.logProbabilities[1]![0]!, 4)
    await trainer.dispose()
  })

  it('return what is captured, position by position, whatever the pieces', async () => {
    const trainer = await shared
    const data = [5, 8, 1, 3].map((length, index) => randomDatum(length, 16, index))
    const capture = ['hidden.2', 'hidden.0']
    const { captured } = await trainer.forward(data, loss, { capture })
    expect([...captured.keys()]).toEqual(capture)
    const alone = await trainer.forwardBackward(data.slice(0, 1), loss, { capture })
    await trainer.clearGradients()
    for (const name of capture) {
      expect(captured.get(name)!.map(({ length }) => length)).toEqual([5, 8, 1, 3].map(length => 16 * length))
      for (const [index, value] of alone.captured.get(name)![0]!.entries())
        expect(captured.get(name)![0]![index]).toBeCloseTo(value, 5)
    }
    // The first state is the embedding of each token.
    const embedding = (await trainer.values()).get('embedding')!
    const token = data[1]!.input.tokens[6]!
    expect(captured.get('hidden.0')![1]!.slice(6 * 16, 7 * 16)).toEqual(embedding.slice(16 * token, 16 * token + 16))
  })

  it('accumulate until they are cleared, which changes nothing else', async () => {
    const trainer = await shared
    const [before, { version }] = [await hashOf(trainer), trainer]
    const [first, second] = [rows(4, 3), rows(4, 4)]
    const [a, b] = [await gradientsOf(trainer, first), await gradientsOf(trainer, second)]
    const sums = new Map([...a].map(([name, array]) => [name, array.map((value, i) => value + b.get(name)![i]!)]))
    expectClose(await gradientsOf(trainer, first, second), sums)
    for (const gradient of (await trainer.gradients()).values()) expect(gradient.every(value => value === 0)).toBe(true)
    await expect(trainer.optimStep({ groups: [adamw] })).rejects.toThrow('there are no gradients')
    expect([await hashOf(trainer), trainer.version]).toEqual([before, version])
  })

  it('leave out what has weight 0, as if the row were shorter', async () => {
    const trainer = await shared
    const whole = rows(1, 6)[0]!
    const half = { ...whole, weights: whole.weights.map((weight, position) => (position < 4 ? weight : 0)) }
    const short = {
      input: { tokens: whole.input.tokens.slice(0, 4) },
      targets: (whole.targets as Int32Array).slice(0, 4),
      weights: whole.weights.slice(0, 4),
    }
    expectClose(await gradientsOf(trainer, [half]), await gradientsOf(trainer, [short]))
  })

  it('carry out calls in the order they were made', async () => {
    const trainer = await engine.createTrainer({ model, seed: 1 })
    const data = rows(4, 7)
    const answers = await Promise.all([
      trainer.forward(data, loss),
      trainer.forwardBackward(data, loss),
      trainer.optimStep({ groups: [adamw] }),
      trainer.forward(data, loss),
      trainer.forward([], loss).catch((error: Error) => error.message),
      trainer.forward(data, loss),
    ])
    expect(answers[1]).toEqual(answers[0])
    expect(answers[3]).not.toEqual(answers[0])
    expect(answers[4]).toBe('forward: there are no data')
    expect(answers[5]).toEqual(answers[3])
    expect(trainer.version).toBe(1)
    const last = trainer.forward(data, loss)
    const end = trainer.dispose()
    await expect(trainer.forward(data, loss)).rejects.toThrow('forward: the trainer was disposed of')
    expect(await last).toEqual(answers[3])
    await end
    await trainer.dispose()
  })
})

describe('optimStep', () => {
  it('moves what its groups say and nothing frozen; the first group that matches counts', async () => {
    const trainer = await engine.createTrainer({ model, seed: 1 })
    await trainer.forwardBackward(rows(4, 8), loss)
    const before = await trainer.values()
    const frozen: ParameterGroup = { ...adamw, match: ['embedding', 'gain'], frozen: true }
    const still: ParameterGroup = { ...adamw, match: parameter => parameter.name.endsWith('.query'), learningRate: 0 }
    await trainer.optimStep({ groups: [frozen, still, muon, adamw] })
    for (const gradient of (await trainer.gradients()).values()) expect(gradient.every(value => value === 0)).toBe(true)
    const after = await trainer.values()
    for (const { name, role } of trainer.parameters) {
      const stays = role === 'embedding' || role === 'gain' || name.endsWith('.query')
      const same = Buffer.from(before.get(name)!.buffer).equals(Buffer.from(after.get(name)!.buffer))
      expect(same, name).toBe(stays)
    }
  })

  it('reports the norm before clipping, and clips to it', async () => {
    const trainer = await engine.createTrainer({ model, seed: 1 })
    await trainer.forwardBackward(rows(4, 9), loss)
    const gradients = await trainer.gradients()
    const squares = [...gradients.values()].map(array => array.reduce((sum, value) => sum + value ** 2, 0))
    const expected = Math.sqrt(squares.reduce((sum, value) => sum + value))
    const plain: ParameterGroup = { match: () => true, optimiser: { kind: 'sgd', momentum: 0 }, learningRate: 1 }
    const before = await trainer.values()
    const { gradientNorm } = await trainer.optimStep({ groups: [plain], clipNorm: expected / 4 })
    expect(gradientNorm).toBeCloseTo(expected, 6)
    const head = (await trainer.values()).get('head')!
    for (const [index, value] of head.entries())
      expect(before.get('head')![index]! - value).toBeCloseTo(gradients.get('head')![index]! / 4, 6)
  })

  it.each<readonly [string, ParameterGroup[], string]>([
    ['a parameter without a group', [muon], 'no group matches embedding (embedding)'],
    [
      'Muon for a vector',
      [{ ...muon, match: () => true }],
      'Muon moves matrices only, and blocks.0.attention.norm has shape (16)',
    ],
    ['a negative rate', [{ ...adamw, learningRate: -1 }], 'groups[0].learningRate is -1: expected a number from 0 on'],
    ['an epsilon of zero', [{ ...adamw, optimiser: { kind: 'adamw', epsilon: 0 } }], 'epsilon is 0'],
    [
      'betas of one',
      [{ ...adamw, optimiser: { kind: 'adamw', betas: [0.9, 1] } }],
      'groups[0].optimiser.betas is [0.9, 1]',
    ],
  ])('refuses %s and keeps the gradients', async (_, groups, sentence) => {
    const trainer = await shared
    await trainer.forwardBackward(rows(4, 10), loss)
    const [before, gradients, { version }] = [await hashOf(trainer), await trainer.gradients(), trainer]
    await expect(trainer.optimStep({ groups })).rejects.toThrow(sentence)
    expect(await hashOf(trainer)).toBe(before)
    expect(await trainer.gradients()).toEqual(gradients)
    expect(trainer.version).toBe(version)
    await trainer.clearGradients()
  })
})

describe('values', () => {
  it('are copies, are replaced by name, and are given at the start', async () => {
    const trainer = await engine.createTrainer({ model, seed: 1 })
    const values = await trainer.values()
    values.get('norm')!.fill(7)
    expect((await trainer.values()).get('norm')![0]).toBe(1)
    await trainer.setValues(new Map([['norm', new Float32Array(16).fill(2)]]))
    expect((await trainer.values()).get('norm')![15]).toBe(2)
    expect((await trainer.values()).get('head')).toEqual(values.get('head'))
    const other = await engine.createTrainer({ model, seed: 2 })
    expect((await other.values()).get('head')).not.toEqual(values.get('head'))
    const start = await trainer.values()
    const given = await engine.createTrainer({ model, seed: 2, values: start })
    expect(await given.values()).toEqual(start)
    await given.setValues(values)
    expect(start).toEqual(await trainer.values())
    const before = await hashOf(trainer)
    const wrong = new Map([
      ['head', new Float32Array(256)],
      ['norm', new Float32Array(15)],
    ])
    await expect(trainer.setValues(wrong)).rejects.toThrow('setValues: norm has 15 values: expected 16')
    await expect(trainer.setValues(new Map([['nrom', new Float32Array(16)]]))).rejects.toThrow('no parameter nrom')
    await expect(engine.createTrainer({ model, values: wrong })).rejects.toThrow('createTrainer: norm has 15 values')
    expect(await hashOf(trainer)).toBe(before)
  })
})

it('options that make no sense are refused', () => {
  expect(() => createEmbeddedEngine({ threads: 0 })).toThrow('threads is 0: expected a positive whole number')
  expect(() => createEmbeddedEngine({ tokensAtOnce: 1.5 })).toThrow('tokensAtOnce is 1.5')
})
