/**
 * Which support a sample reports: that of positions where top-k or top-p took tokens away, whoever else is in the call.
 */
import { afterAll, expect, it } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import type { SampleRequest } from '../sampling.ts'

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const trainer = await engine.createTrainer({ model: bigram({ vocabulary: 5, contextLength: 6, initialDeviation: 1 }) })
const sampler = await trainer.snapshot()

it('is none where only blocked tokens are gone, and the same in any company', async () => {
  const prompt = { tokens: Int32Array.of(0) }
  const plain: SampleRequest = { prompt, maximumTokens: 3, returnSupport: true, blocked: [3] }
  const filtered = { ...plain, topP: 0.3 }
  // Keeps all: tokens of no probability count for nothing.
  const wide = { ...plain, topP: 0.999_999 }
  const alone = await Promise.all([plain, filtered, wide].map(request => sampler.sample([request])))
  const together = await sampler.sample([plain, filtered, wide])
  expect(together.map(samples => samples[0]!.distribution)).toEqual(alone.map(([samples]) => samples![0]!.distribution))
  expect(together[0]![0]!.distribution).toEqual({ blocked: [3] })
  expect(together[2]![0]!.distribution).toEqual({ blocked: [3] })
  const { support } = together[1]![0]!.distribution
  expect(support!.offsets.at(-1)).toBe(support!.tokens.length)
  expect(support!.tokens.length).toBeLessThan(3 * 4)
  expect(support!.tokens).not.toContain(3)
})
