/**
 * Snapshots of a trainer: they keep the weights and the version that they were taken with, outlive their trainer, and end with the engine.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { decoder } from '../models/decoder.ts'
import { createEmbeddedEngine } from './engine.ts'
import { smallDatum as datum, smallDecoder } from './fixtures/small-decoder.ts'

const model = decoder(smallDecoder)
const untied = decoder({ ...smallDecoder, tiedEmbeddings: false })
const loss = { kind: 'cross_entropy' } as const
const groups = [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.1 } as const]
const request = { input: datum.input, targets: datum.targets }

it.each([
  ['all parameters', {}],
  ['adapters', { adapters: { rank: 2 } }],
])('training %s', async (_, options) => {
  const folder = mkdtempSync(join(tmpdir(), 'snapshot-'))
  const engine = createEmbeddedEngine()
  const trainer = await engine.createTrainer({ model, seed: 1, ...options })
  for (let step = 0; step < 2; step++) {
    await trainer.forwardBackward([datum], loss)
    await trainer.optimStep({ groups })
  }
  const sampler = await trainer.snapshot()
  expect(sampler.version).toBe(2)
  const expected = (await trainer.forward([datum], loss)).logProbabilities[0]!
  await trainer.save(join(folder, 'saved'))
  for (let step = 0; step < 2; step++) {
    await trainer.forwardBackward([datum], loss)
    await trainer.optimStep({ groups })
  }
  const later = (await trainer.forward([datum], loss)).logProbabilities[0]!
  expect(Math.abs(later[0]! - expected[0]!)).toBeGreaterThan(0.01)

  const newer = await trainer.snapshot()
  await trainer.dispose()
  const loaded = await engine.loadSampler(join(folder, 'saved'))
  for (const [taken, version, values] of [
    [sampler, 2, expected],
    [newer, 4, later],
    [loaded, 2, expected],
  ] as const) {
    expect(taken.version).toBe(version)
    const [score] = await taken.score([request])
    for (const [position, value] of values.entries()) expect(score!.logProbabilities[position]).toBeCloseTo(value, 5)
  }
  await sampler.dispose()
  await expect(sampler.score([request])).rejects.toThrow('disposed of')
  await engine.dispose()
  await expect(newer.score([request])).rejects.toThrow('disposed of')
  await expect(loaded.score([request])).rejects.toThrow('disposed of')
  await expect(engine.createTrainer({ model })).rejects.toThrow('createTrainer: the engine was disposed of')
  await expect(engine.loadSampler(join(folder, 'saved'))).rejects.toThrow('loadSampler: the engine was disposed of')
  rmSync(folder, { recursive: true })
})

it('a snapshot that was asked for when the engine ended is ended with it', async () => {
  const engine = createEmbeddedEngine()
  const trainer = await engine.createTrainer({ model })
  const asked = trainer.snapshot()
  await engine.dispose()
  await expect((await asked).score([request])).rejects.toThrow('disposed of')
})

it.each([
  ['all parameters', {}, 'head'],
  ['adapters', { adapters: { rank: 2 } }, 'blocks.0.attention.query.adapter.b'],
])('values of the caller take the place of those that are named: training %s', async (_, options, name) => {
  const engine = createEmbeddedEngine()
  const trainer = await engine.createTrainer({ model: untied, seed: 1, ...options })
  await trainer.forwardBackward([datum], loss)
  await trainer.optimStep({ groups })
  const before = await trainer.values()
  const changed = before.get(name)!.map((value, index) => value + (index % 3) / 2)
  const given = changed.slice()
  const averaged = await trainer.snapshot({ values: new Map([[name, given]]) })
  given.fill(Number.NaN)
  const sampler = await trainer.snapshot()
  expect(averaged.version).toBe(1)
  expect(await trainer.values()).toEqual(before)
  const scores = await Promise.all([averaged, sampler].map(each => each.score([request])))
  await trainer.setValues(new Map([[name, changed]]))
  const expected = await trainer.forward([datum], loss)
  const [ofAveraged, own] = scores.map(([score]) => score!.logProbabilities)
  for (const [position, value] of expected.logProbabilities[0]!.entries())
    expect(ofAveraged![position]).toBeCloseTo(value, 5)
  expect(Math.abs(ofAveraged![5]! - own![5]!)).toBeGreaterThan(1e-3)
  for (const [wrong, sentence] of [
    [[name, changed.subarray(1)], `snapshot: ${name} has ${changed.length - 1} values: expected ${changed.length}`],
    [['nowhere', changed], 'snapshot: there is no parameter nowhere to give values to'],
  ] as const)
    await expect(trainer.snapshot({ values: new Map([wrong]) })).rejects.toThrow(sentence)
  await engine.dispose()
})
