/**
 * A trainer of low-rank adapters: the base stays and is shared, adapters can be left out, and nothing but them is trained.
 */
import { afterAll, expect, it } from 'vitest'
import { decoder } from '../models/decoder.ts'
import { createEmbeddedEngine } from './engine.ts'
import { smallDatum as datum, smallDecoder } from './fixtures/small-decoder.ts'

const model = decoder(smallDecoder)
const loss = { kind: 'cross_entropy' } as const
const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())

const without = { ...datum, adapter: false }

it('begins as the base, moves away from it, and can be asked without its adapters', async () => {
  const values = model.initialValues(5)
  const untouched = new Map([...values].map(([name, array]) => [name, array.slice()]))
  const base = await engine.createTrainer({ model, values })
  const trainer = await engine.createTrainer({ model, values, adapters: { rank: 2, projections: ['query', 'up'] } })
  expect(trainer.parameters.map(({ name }) => name)).toEqual([
    'blocks.0.attention.query.adapter.a',
    'blocks.0.attention.query.adapter.b',
    'blocks.0.feedForward.up.adapter.a',
    'blocks.0.feedForward.up.adapter.b',
  ])
  const plain = await base.forward([datum], loss)
  expect((await trainer.forward([datum], loss)).logProbabilities).toEqual(plain.logProbabilities)

  const groups = [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.1 } as const]
  for (let step = 0; step < 20; step++) {
    await trainer.forwardBackward([datum], loss)
    await trainer.optimStep({ groups })
  }
  expect([...(await trainer.gradients()).keys()]).toEqual(trainer.parameters.map(({ name }) => name))
  const mixed = await trainer.forward([datum, without, datum], loss)
  expect(mixed.logProbabilities[1]).toEqual(plain.logProbabilities[0])
  expect(mixed.logProbabilities[0]).toEqual(mixed.logProbabilities[2])
  const [after, before] = [mixed, plain].map(({ losses }) => losses[0]!.reduce((sum, value) => sum + value))
  expect(after).toBeLessThan(before! / 2)
  expect(values).toEqual(untouched)

  // What is computed without adapters does not depend on them.
  await trainer.forwardBackward([without], loss)
  for (const gradient of (await trainer.gradients()).values()) expect(gradient.every(value => value === 0)).toBe(true)
  await expect(trainer.setValues(values)).rejects.toThrow('no parameter embedding to give values to')
})
