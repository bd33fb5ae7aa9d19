/**
 * Training through the front door.
 */
import { expect, it } from 'vitest'
import { decoder } from '../models/decoder.ts'
import { createEmbeddedEngine } from './engine.ts'

const model = decoder({
  vocabulary: 11,
  contextLength: 8,
  depth: 1,
  width: 8,
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
})

it('trains', async () => {
  const engine = createEmbeddedEngine()
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const datum = (length: number) => ({
    input: { tokens: Int32Array.from({ length }, (_, i) => i % 11) },
    targets: Int32Array.from({ length }, (_, i) => (i + 1) % 11),
    weights: new Float32Array(length).fill(1 / 16),
  })
  const data = [datum(8), datum(3), datum(5)]
  const losses: number[] = []
  for (let step = 0; step < 30; step++) {
    const result = await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    losses.push(result.lossSum)
    expect(result.logProbabilities.map(l => l.length)).toEqual([8, 3, 5])
    await trainer.optimStep({ groups: [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.02 }] })
  }
  expect(losses[0]).toBeGreaterThan(2)
  expect(losses.at(-1)).toBeLessThan(0.5)
  expect(trainer.version).toBe(30)
  await engine.dispose()
})
