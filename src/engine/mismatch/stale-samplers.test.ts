import { afterAll, expect, test } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import type { Sampler } from '../sampling.ts'
import type { Trainer } from '../training.ts'
import { quantise } from './quantisation.ts'
import { renewedSamplers, staleSamplers } from './stale-samplers.ts'

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())

const model = bigram({ vocabulary: 4, contextLength: 4, initialDeviation: 1 })
const input = { tokens: Int32Array.of(0, 1, 2, 3) }

async function step(trainer: Trainer): Promise<void> {
  const datum = { input, targets: Int32Array.of(1, 2, 3, 0), weights: Float32Array.of(1, 1, 1, 1) }
  await trainer.forwardBackward([datum], { kind: 'cross_entropy' })
  await trainer.optimStep({ groups: [{ match: 'matrix', optimiser: { kind: 'sgd' }, learningRate: 0.1 }] })
}

const distributionOf = async (sampler: Sampler) => (await sampler.distributions([{ input }]))[0]!

/** What a sampler of each version says, and those that were disposed of, in order. */
function recorded(trainer: Trainer) {
  const ended: number[] = []
  const source = {
    get version() {
      return trainer.version
    },
    async snapshot(options?: Parameters<Trainer['snapshot']>[0]) {
      const sampler = await trainer.snapshot(options)
      const dispose = sampler.dispose.bind(sampler)
      sampler.dispose = () => {
        ended.push(sampler.version)
        return dispose()
      }
      return sampler
    },
  }
  return { source, ended }
}

test('weights are exactly so many steps old, at first the oldest; what falls out is disposed of', async () => {
  const trainer = await engine.createTrainer({ model })
  const { source, ended } = recorded(trainer)
  const lagging = staleSamplers(source, 2)
  const byVersion: Float32Array[] = []
  const served: Sampler[] = []
  for (const expected of [0, 0, 0, 1, 2, 3]) {
    const fresh = await trainer.snapshot()
    byVersion.push(await distributionOf(fresh))
    const sampler = await lagging.sampler()
    expect(sampler.version).toBe(expected)
    expect(await distributionOf(sampler)).toEqual(byVersion[expected])
    expect(await lagging.sampler()).toBe(sampler)
    served.push(sampler)
    await step(trainer)
  }
  expect(byVersion[0]).not.toEqual(byVersion[1])
  expect(ended).toEqual([0, 1, 2])
  await expect(distributionOf(served[0]!)).rejects.toThrow()
  await lagging.dispose()
  expect(ended).toEqual([0, 1, 2, 3, 4, 5])
  await expect(lagging.sampler()).rejects.toThrow('these lagging samplers were disposed of')
})

test('steps without a question are not seen: the newest that is old enough is taken', async () => {
  const trainer = await engine.createTrainer({ model })
  const lagging = staleSamplers(trainer, 2)
  const versions: number[] = []
  for (const steps of [0, 1, 3, 1, 1]) {
    for (let taken = 0; taken < steps; taken++) await step(trainer)
    versions.push((await lagging.sampler()).version)
  }
  // Asked at the versions 0, 1, 4, 5 and 6.
  expect(versions).toEqual([0, 0, 1, 1, 4])
})

test('no staleness is the weights of now', async () => {
  const trainer = await engine.createTrainer({ model })
  const lagging = staleSamplers(trainer, 0)
  await lagging.sampler()
  await step(trainer)
  const [first, second] = await Promise.all([lagging.sampler(), lagging.sampler()])
  expect(first.version).toBe(1)
  expect(second).toBe(first)
})

test('weights that are taken over every few steps, by a sampler that rounds them', async () => {
  const trainer = await engine.createTrainer({ model })
  const { source, ended } = recorded(trainer)
  const quantisation = { bits: 4, groupSize: 2 } as const
  const lagging = renewedSamplers(source, 3, { quantisation })
  const versions: number[] = []
  for (let steps = 0; steps < 7; steps++) {
    const sampler = await lagging.sampler()
    versions.push(sampler.version)
    if (sampler.version === trainer.version) {
      const values = (await trainer.values()).get('logits')!
      const rounded = new Map([['logits', quantise(values, [4, 4], quantisation)]])
      const expected = await (await engine.createTrainer({ model, values: rounded })).snapshot()
      expect(await distributionOf(sampler)).toEqual(await distributionOf(expected))
      expect(await distributionOf(sampler)).not.toEqual(await distributionOf(await trainer.snapshot()))
    }
    await step(trainer)
  }
  expect(versions).toEqual([0, 0, 0, 3, 3, 3, 6])
  expect(ended).toEqual([0, 3])
})

test('what cannot be is refused with a sentence', async () => {
  const trainer = await engine.createTrainer({ model })
  expect(() => staleSamplers(trainer, -1)).toThrow('steps is -1: expected a whole number from 0 on')
  expect(() => renewedSamplers(trainer, 0)).toThrow('steps is 0: expected a positive whole number')
})
