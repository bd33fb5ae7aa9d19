/**
 * A small masked-diffusion model: trained to fill in what is masked, then asked to fill a gap in an order of its own, and how likely it
 * finds texts. Takes some seconds.
 *
 * Run:  node examples/engine/masked-diffusion.ts
 */
import { anyOrderSample } from '../../src/engine/diffusion/any-order-sample.ts'
import { denoiserOf } from '../../src/engine/diffusion/denoiser.ts'
import { bitsPerByte, duelLogLikelihoods } from '../../src/engine/diffusion/duel.ts'
import { maskedData } from '../../src/engine/diffusion/masking.ts'
import { mostConfident } from '../../src/engine/diffusion/unmasking-rule.ts'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import type { OptimStepOptions } from '../../src/engine/optimisers/optimiser.ts'
import { byteTokeniser } from '../../src/engine/tokenisers/byte-tokeniser.ts'
import { seededRandom } from '../../src/statistics/random.ts'

const rhyme = 'monday tuesday wednesday thursday friday saturday sunday '
const tokeniser = byteTokeniser({ specials: ['<mask>'] })
const text = tokeniser.encode(rhyme.repeat(3))
const maskToken = tokeniser.specials.get('<mask>')!
const [underscore] = tokeniser.encode('_')
const length = 16
const groups: OptimStepOptions['groups'] = [
  { match: 'matrix', optimiser: { kind: 'muon' }, learningRate: 0.02 },
  { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 },
]

export async function fillTheGap(steps = 500) {
  const engine = createEmbeddedEngine()
  const model = decoder({
    vocabulary: tokeniser.vocabulary,
    contextLength: length,
    depth: 2,
    width: 32,
    heads: 2,
    attention: 'bidirectional',
  })
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const random = seededRandom(1)
  for (let step = 0; step < steps; step++) {
    const sequences = Array.from({ length: 16 }, () => {
      const start = random.integer(rhyme.length)
      return text.subarray(start, start + length)
    })
    // Weights of 1 / n make a mean; a number of masked tokens instead of a coin for each has less noise.
    const data = maskedData(sequences, { maskToken, random, masking: 'counted', weight: 1 / (16 * length) })
    await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    await trainer.optimStep({ groups, clipNorm: 1 })
  }

  const denoiser = denoiserOf(await trainer.snapshot(), maskToken)
  const rule = mostConfident()
  const template = tokeniser.encode('wed_______thursd').map(token => (token === underscore ? maskToken : token))
  const [samples] = await anyOrderSample(denoiser, [{ template, rule, temperature: 0 }])
  // The exact likelihood of a text, unmasked by the same rule.
  const texts = ['wednesday thursd', 'wendesday thursd'].map(each => tokeniser.encode(each))
  const bits = [...(await duelLogLikelihoods(denoiser, texts, rule))].map(each => bitsPerByte(each, length))
  await engine.dispose()
  return { filled: tokeniser.decode(samples![0]!.tokens), bits }
}

if (import.meta.main) {
  const { filled, bits } = await fillTheGap()
  console.log(JSON.stringify(filled))
  console.log(`${bits[0]!.toFixed(2)} bits a byte as it should be, ${bits[1]!.toFixed(2)} with two letters exchanged`)
}
