/**
 * The decoder step by step is the decoder on the whole: what is drawn and what prefixes keep agree with a whole pass, over its options.
 */
import { afterAll, expect, it } from 'vitest'
import { Samplers } from '../embedded/samplers.ts'
import { decoder } from './decoder.ts'
import type { DecoderOptions } from './decoder-configuration.ts'

const tiny: DecoderOptions = {
  vocabulary: 9,
  contextLength: 24,
  depth: 2,
  width: 8,
  heads: 2,
  feedForwardWidth: 6,
  tiedEmbeddings: true,
  initialisationScale: 2,
}
const variants: readonly Partial<DecoderOptions>[] = [
  {},
  { positions: 'alibi', heads: 4, keyValueHeads: 2, normKind: 'layer', activation: 'gelu', tiedEmbeddings: false },
  { positions: 'learned', norm: 'post', queryKeyNorm: true, keyValueHeads: 1, logitSoftCap: 3, normEpsilon: 1e-3 },
  {
    headWidth: 6,
    keyValueHeads: 1,
    rotaryBase: 500,
    rotaryScaling: { factor: 4, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContextLength: 8 },
    residualScaling: 'depth',
    activation: 'relu-squared',
  },
  { positions: 'none', norm: 'post', normKind: 'layer' },
]
const created: Samplers[] = []
afterAll(async () => {
  for (const samplers of created) await samplers.release()
})

it.each(variants)('%j', async changes => {
  const model = decoder({ ...tiny, ...changes })
  const samplers = new Samplers({ model, adapters: null, threads: 1, tokensAtOnce: 64 })
  created.push(samplers)
  const sampler = samplers.create({ values: model.initialValues(3), version: 0, pieceLength: 4 })
  const prompts = [[1], [2, 3, 4, 5, 6, 7, 8], [3, 1, 4]].map(tokens => Int32Array.from(tokens))
  const parts = [1, 4, 2]
  const prefixes = []
  for (const [index, tokens] of prompts.entries()) {
    const prefix = await sampler.prefix({ tokens: tokens.subarray(0, parts[index]) })
    prefixes.push(await sampler.extend(prefix, tokens.subarray(parts[index]!)))
  }
  // To the last place that the model has.
  const longest = (index: number) => tiny.contextLength - prompts[index]!.length + 1
  const fromPrompts = await sampler.sample(
    prompts.map((tokens, index) => ({ prompt: { tokens }, maximumTokens: longest(index) })),
  )
  const fromPrefixes = await sampler.sample(
    prefixes.map((prompt, index) => ({ prompt, maximumTokens: longest(index) })),
  )
  expect(fromPrefixes.map(([sample]) => [...sample!.tokens])).toEqual(
    fromPrompts.map(([sample]) => [...sample!.tokens]),
  )
  for (const samples of [fromPrompts, fromPrefixes]) {
    const scores = await sampler.score(
      samples.map(([sample], index) => {
        const tokens = Int32Array.of(...prompts[index]!, ...sample!.tokens)
        return { input: { tokens: tokens.subarray(0, -1) }, targets: tokens.subarray(1) }
      }),
    )
    for (const [index, [sample]] of samples.entries())
      for (const [position, value] of sample!.logProbabilities.entries())
        expect(Math.abs(value - scores[index]!.logProbabilities[prompts[index]!.length - 1 + position]!)).toBeLessThan(
          1e-5,
        )
  }
  await sampler.dispose()
})
