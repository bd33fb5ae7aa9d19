/**
 * Models with a memory are sampled step by step as they compute whole: what is drawn has the log-probabilities that it is scored with.
 */
import { afterAll, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import type { ModelInput } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { decoder } from './decoder.ts'
import type { DecoderOptions } from './decoder-configuration.ts'
import { encoderDecoder } from './encoder-decoder.ts'
import type { MemoryConfiguration } from './memory-configuration.ts'

const shape: DecoderOptions = {
  vocabulary: 7,
  contextLength: 10,
  depth: 2,
  width: 8,
  heads: 2,
  keyValueHeads: 1,
  feedForwardWidth: 12,
  activation: 'gelu',
  tiedEmbeddings: true,
}
const byState: MemoryConfiguration = { slots: 9, chosen: 3, productKeys: true }
const byHistory: MemoryConfiguration = { slots: 9, chosen: 3, query: 'history' }
const encoded = { ...shape, encoderDepth: 1, encoderWindow: 3, encoderContextLength: 12, sharedEmbeddings: true }

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())

it.each([
  ['decoder, asked by the state', decoder({ ...shape, memory: byState })],
  ['decoder, asked by the history', decoder({ ...shape, memory: byHistory })],
  ['encoder-decoder, asked by the history', encoderDecoder({ ...encoded, memory: byHistory })],
])('%s', async (_, model) => {
  const random = seededRandom('sampling')
  const tokens = (length: number) => Int32Array.from({ length }, () => random.integer(7))
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const values = Float32Array.from({ length: 9 * 8 }, () => random.normal())
  await trainer.setValues(new Map([['memory.values', values]]))
  const sampler = await trainer.snapshot()
  const prompts = [2, 4].map(length => ({
    tokens: tokens(length),
    ...(model.inputs.encoderTokens && { encoderTokens: tokens(3 * length) }),
  }))
  const samples = await sampler.sample(prompts.map(prompt => ({ prompt, samples: 2, maximumTokens: 5 })))
  const drawn = samples.flatMap((ofPrompt, index) => ofPrompt.map(sample => ({ sample, prompt: prompts[index]! })))
  const scores = await sampler.score(
    drawn.map(({ sample, prompt }) => {
      const whole = Int32Array.from([...prompt.tokens, ...sample.tokens])
      const input: ModelInput = { ...prompt, tokens: whole.slice(0, -1) }
      return { input, targets: whole.slice(1) }
    }),
  )
  for (const [index, { sample, prompt }] of drawn.entries()) {
    expect(sample.tokens).toHaveLength(5)
    const scored = scores[index]!.logProbabilities.slice(prompt.tokens.length - 1)
    for (const [place, value] of sample.logProbabilities.entries())
      expect(Math.abs(value - scored[place]!)).toBeLessThan(1e-5)
  }
  await sampler.dispose()
  await trainer.dispose()
})
