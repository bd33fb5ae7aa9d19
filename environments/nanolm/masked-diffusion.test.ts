import { beforeAll, expect, test } from 'vitest'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import type { Trainer } from '../../src/engine/training.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import { resolveConfiguration } from './configuration.ts'
import { everyEighth, maskedDiffusion } from './masked-diffusion.ts'
import { decoderConfiguration } from './model.ts'

const configuration = resolveConfiguration({
  objective: 'masked-diffusion',
  depth: 1,
  width: 8,
  heads: 2,
  keyValueHeads: 2,
  contextLength: 16,
  lowestMaskedShare: 0.25,
  highestMaskedShare: 0.75,
})
const objective = maskedDiffusion(configuration)
const windows = [Buffer.from('a whale in the sea'), Buffer.from('a ship on the sea.')].map(text => text.subarray(0, 17))

let trainer: Trainer
beforeAll(async () => {
  const engine = createEmbeddedEngine()
  trainer = await engine.createTrainer({ model: decoder(decoderConfiguration(configuration)), seed: 1 })
  return () => engine.dispose()
})

test('masked bytes are to be predicted where they stood, at the levels, and weigh what others are missing', () => {
  const rows = Array.from({ length: 400 }, () => windows[0]!)
  const data = objective.trainingData(rows, seededRandom(1))
  let total = 0
  for (const { input, targets, weights } of data) {
    expect(targets).toEqual(Int32Array.from(windows[0]!.subarray(1)))
    expect([...input.tokens].map((token, position) => (token === 256) === weights[position]! > 0)).not.toContain(false)
    for (const weight of weights) {
      total += weight
      if (weight === 0) continue
      const share = 1 / (weight * 400 * 16)
      expect(share).toBeGreaterThan(0.25 - 1e-6)
      expect(share).toBeLessThan(0.75 + 1e-6)
    }
  }
  // In expectation 1, as for a mean over all bytes.
  expect(total).toBeGreaterThan(0.95)
  expect(total).toBeLessThan(1.05)
})

test('eight passes unmask a row of any length, each byte once', () => {
  const seen: number[][] = []
  let masked = Array.from({ length: 24 }, (_, position) => position)
  while (masked.length > 0) {
    const state = { tokens: new Int32Array(24), masked, logProbabilities: new Float32Array(0), vocabulary: 257 }
    const next = everyEighth(state)
    seen.push([...next])
    masked = masked.filter(position => !next.includes(position))
  }
  expect(seen).toEqual(Array.from({ length: 8 }, (_, pass) => [pass, pass + 8, pass + 16]))
})

test('bits per byte are those of the passes one by one, among bytes only', async () => {
  const expected = await Promise.all(
    windows.map(async window => {
      const text = Int32Array.from(window.subarray(1))
      const tokens = new Int32Array(16).fill(256)
      let bits = 0
      for (let pass = 0; pass < 8; pass++) {
        const datum = { input: { tokens: tokens.slice() }, targets: text, weights: new Float32Array(16) }
        const blocked = { ...datum, distribution: { blocked: [256] } }
        const { logProbabilities } = await trainer.forward([blocked], { kind: 'cross_entropy' })
        for (const position of [pass, pass + 8]) {
          bits -= logProbabilities[0]![position]! / Math.LN2
          tokens[position] = text[position]!
        }
      }
      return bits
    }),
  )
  expect(await objective.bitsPerByte(trainer, windows)).toBeCloseTo((expected[0]! + expected[1]!) / 32, 5)
})

test('an untrained model costs about as much as a uniform guess', async () => {
  const bitsPerByte = await objective.bitsPerByte(trainer, windows)
  expect(Math.abs(bitsPerByte - 8)).toBeLessThan(0.2)
})
