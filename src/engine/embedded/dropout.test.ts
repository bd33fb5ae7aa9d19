/**
 * Dropout through the trainer: which masks are drawn, when, and that they are drawn at the right rate.
 */
import { afterAll, expect, it } from 'vitest'
import type { CrossEntropyDatum } from '../datum.ts'
import { decoder } from '../models/decoder.ts'
import { fillDropoutMask, maskKey } from '../passes/dropout-masks.ts'
import { createEmbeddedEngine } from './engine.ts'
import { smallDecoder } from './fixtures/small-decoder.ts'

const model = decoder({ ...smallDecoder, dropout: 0.3 })
const loss = { kind: 'cross_entropy' } as const
const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const shared = engine.createTrainer({ model, seed: 1 })

const datum = (length: number): CrossEntropyDatum => ({
  input: { tokens: Int32Array.from({ length }, (_, index) => (3 * index) % 11) },
  targets: Int32Array.from({ length }, (_, index) => (5 * index + 1) % 11),
  weights: new Float32Array(length).fill(1),
})

it('is off in forward and on in forwardBackward, each call with masks of its own', async () => {
  const trainer = await shared
  const data = [datum(8)]
  const off = await trainer.forward(data, loss)
  expect(await trainer.forward(data, loss)).toEqual(off)
  const first = await trainer.forwardBackward(data, loss)
  await trainer.clearGradients()
  const second = await trainer.forwardBackward(data, loss)
  expect(first.lossSum).not.toBe(off.lossSum)
  expect(second.lossSum).not.toBe(first.lossSum)
  const without = await trainer.forwardBackward(data, loss, { dropoutSeed: null })
  expect(without.lossSum).toBeCloseTo(off.lossSum, 5)
})

it('a seed repeats the masks: in both verbs, and however data are cut into pieces; places have masks of their own', async () => {
  const trainer = await shared
  const data = [datum(3), datum(8), datum(8), datum(5)]
  const options = { dropoutSeed: 7 }
  const forward = await trainer.forward(data, loss, options)
  const both = await trainer.forwardBackward(data, loss, options)
  const cut = await createEmbeddedEngine({ tokensAtOnce: 8 }).createTrainer({ model, seed: 1 })
  const inPieces = await cut.forward(data, loss, options)
  for (const [index, expected] of forward.logProbabilities.entries())
    for (const [position, value] of expected.entries())
      for (const other of [both, inPieces]) expect(other.logProbabilities[index]![position]).toBeCloseTo(value, 5)
  expect(forward.logProbabilities[1]).not.toEqual(forward.logProbabilities[2])
  expect((await trainer.forward(data, loss, { dropoutSeed: 8 })).lossSum).not.toBe(forward.lossSum)
  await cut.dispose()
})

it('masks keep the right share, scaled so that the mean stays, and streams do not resemble each other', () => {
  const size = 40_000
  const draw = (seed: number, place: number, name: string) => {
    const row = new Float32Array(size)
    fillDropoutMask(row, maskKey(seed, place, name), 0.3)
    return row
  }
  const first = draw(1, 0, 'a')
  expect(new Set(first)).toEqual(new Set([0, Math.fround(1 / 0.7)]))
  for (const other of [draw(2, 0, 'a'), draw(1, 1, 'a'), draw(1, 0, 'b'), draw(1 + 2 ** 32, 0, 'a')]) {
    let kept = 0
    let both = 0
    for (const [index, value] of other.entries()) {
      if (value === 0) continue
      kept++
      if (first[index] !== 0) both++
    }
    // Five standard deviations.
    expect(Math.abs(kept / size - 0.7)).toBeLessThan(5 * Math.sqrt((0.7 * 0.3) / size))
    expect(Math.abs(both / kept - 0.7)).toBeLessThan(5 * Math.sqrt((0.7 * 0.3) / kept))
  }
  expect(draw(1, 0, 'a')).toEqual(first)
  // Neighbours, and positions 32 apart, which are drawn together or from neighbouring counters.
  for (const distance of [1, 31, 32, 48]) {
    let pairs = 0
    for (let index = distance; index < size; index++) if (first[index] !== 0 && first[index - distance] !== 0) pairs++
    expect(Math.abs(pairs / size - 0.49)).toBeLessThan(5 * Math.sqrt((0.49 * 0.51 * 2) / size))
  }
  const rare = new Float32Array(size)
  fillDropoutMask(rare, maskKey(1, 0, 'a'), 0.001)
  const dropped = rare.filter(value => value === 0).length
  expect(Math.abs(dropped - 40)).toBeLessThan(5 * Math.sqrt(40))
})
