/**
 * Stopping, loading and going on gives the same numbers, bit by bit, as never having stopped; what does not fit is refused.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import type { CrossEntropyDatum } from '../datum.ts'
import type { Adapters } from '../engine.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import type { Optimiser, ParameterGroup } from '../optimisers/optimiser.ts'
import type { Trainer } from '../training.ts'
import { createEmbeddedEngine } from './engine.ts'

const configuration: DecoderOptions = {
  vocabulary: 11,
  contextLength: 6,
  depth: 1,
  width: 8,
  heads: 2,
  tiedEmbeddings: true,
  dropout: 0.2,
}
const model = decoder(configuration)
const loss = { kind: 'cross_entropy' } as const
const engine = createEmbeddedEngine()
const folder = mkdtempSync(join(tmpdir(), 'resume-'))
afterAll(async () => {
  await engine.dispose()
  rmSync(folder, { recursive: true })
})

function batch(step: number): CrossEntropyDatum[] {
  const random = seededRandom(step)
  const draw = () => Int32Array.from({ length: 6 }, () => random.integer(11))
  return Array.from({ length: 4 }, () => ({
    input: { tokens: draw() },
    targets: draw(),
    weights: new Float32Array(6).fill(1 / 24),
  }))
}

/** Steps `from` to below `to`; two calls a step, which take dropout masks of their own. */
async function train(trainer: Trainer, from: number, to: number, groups: readonly ParameterGroup[]): Promise<number[]> {
  const losses: number[] = []
  for (let step = from; step < to; step++) {
    for (const part of [2 * step, 2 * step + 1]) losses.push((await trainer.forwardBackward(batch(part), loss)).lossSum)
    await trainer.optimStep({ groups, clipNorm: 1 })
  }
  return losses
}

const others: ParameterGroup = { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 }

describe.each<readonly [string, Optimiser, Adapters | undefined]>([
  ['AdamW', { kind: 'adamw' }, undefined],
  ['Muon', { kind: 'muon' }, undefined],
  ['Lion, over adapters', { kind: 'lion' }, { rank: 2, projections: ['query', 'embedding'] }],
  ['SGD', { kind: 'sgd', momentum: 0.9 }, undefined],
])('with %s', (name, optimiser, adapters) => {
  const groups = [{ match: 'matrix', optimiser, learningRate: 0.01, weightDecay: 0.1 } as const, others]

  it('goes on as if it had never stopped', async () => {
    const place = join(folder, name)
    const whole = await engine.createTrainer({ model, seed: 3, ...(adapters && { adapters }) })
    const begun = await train(whole, 0, 2, groups)
    await whole.save(place)
    const rest = await train(whole, 2, 4, groups)
    expect(new Set([...begun, ...rest]).size).toBe(8)

    const loaded = await engine.loadTrainer(place)
    expect(loaded.version).toBe(2)
    expect(loaded.parameters).toEqual(whole.parameters)
    expect(await train(loaded, 2, 4, groups)).toEqual(rest)
    expect(await loaded.values()).toEqual(await whole.values())
    expect(loaded.version).toBe(4)

    // A trainer that went another way, with gradients that it has not applied, goes back.
    await whole.forwardBackward(batch(99), loss)
    await whole.load(place)
    await expect(whole.optimStep({ groups })).rejects.toThrow('there are no gradients')
    expect(await train(whole, 2, 4, groups)).toEqual(rest)

    await whole.load(place, { optimiser: false })
    expect(whole.version).toBe(2)
    await train(whole, 2, 4, groups)
    expect(await whole.values()).not.toEqual(await loaded.values())
    await whole.dispose()
    await loaded.dispose()
  })
})

describe('what is refused', () => {
  it('a folder that is there, a checkpoint of another model or with other adapters; nothing is changed', async () => {
    const trainer = await engine.createTrainer({ model, seed: 3 })
    const place = join(folder, 'plain')
    await trainer.save(place)
    await expect(trainer.save(place)).rejects.toThrow(place)
    const other = await engine.createTrainer({ model: decoder({ ...configuration, width: 16 }), seed: 3 })
    const before = await other.values()
    await expect(other.load(place)).rejects.toThrow('width is 8')
    const adapted = await engine.createTrainer({ model, adapters: { rank: 2 } })
    await expect(adapted.load(place)).rejects.toThrow('it holds no adapters')
    await expect(trainer.load(join(folder, 'nowhere'))).rejects.toThrow('there is no such folder')
    await expect(engine.loadTrainer(join(folder, 'nowhere'))).rejects.toThrow('nowhere')
    expect(await other.values()).toEqual(before)
  })
})
