/**
 * Data of policy losses made of samples: the trainer computes the log-probabilities that the sampler reported, whatever they were drawn from.
 */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import type { ModelInput } from './datum.ts'
import { createEmbeddedEngine } from './embedded/engine.ts'
import { bigram } from './models/bigram.ts'
import { policyDatum } from './policy-datum.ts'
import type { Sample, SampleRequest } from './sampling.ts'

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const trainer = await engine.createTrainer({
  model: bigram({ vocabulary: 6, contextLength: 16, initialDeviation: 2 }),
  seed: 1,
})
const sampler = await trainer.snapshot()
const loss = { kind: 'importance_sampling' } as const

const anyRequest: fc.Arbitrary<SampleRequest> = fc.record(
  {
    prompt: fc.array(fc.nat(5), { minLength: 1, maxLength: 5 }).map(tokens => ({ tokens: Int32Array.from(tokens) })),
    maximumTokens: fc.integer({ min: 1, max: 6 }),
    seed: fc.nat(),
    temperature: fc.constantFrom(0, 0.5, 1, 1.5),
    topP: fc.constantFrom(0.6, 1),
    topK: fc.constantFrom(2, 6),
    blocked: fc.subarray([1, 4]),
    returnSupport: fc.constant(true),
  },
  { requiredKeys: ['prompt', 'maximumTokens', 'returnSupport'] },
)

it('has the log-probabilities that a forward pass gives: as drawn, and those of the model itself', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRequest, { minLength: 1, maxLength: 4 }), fc.boolean(), async (given, asPrefixes) => {
      const requests = await Promise.all(
        given.map(async request => {
          return asPrefixes ? { ...request, prompt: await sampler.prefix(request.prompt as ModelInput) } : request
        }),
      )
      const samples = await sampler.sample(requests)
      for (const distribution of ['drawn', 'model'] as const) {
        const data = requests.map(({ prompt }, index) => policyDatum(prompt, samples[index]![0]!, 3, { distribution }))
        const { logProbabilities, lossSum } = await trainer.forward(data, loss)
        let drawn = 0
        for (const [index, datum] of data.entries()) {
          const before = requests[index]!.prompt.tokens.length - 1
          expect([...datum.targets.subarray(before)]).toEqual([...samples[index]![0]!.tokens])
          for (const [position, advantage] of datum.advantages.entries()) {
            expect(advantage).toBe(position < before ? 0 : 3)
            if (position < before) continue
            drawn++
            expect(logProbabilities[index]![position]).toBeCloseTo(datum.logProbabilities[position]!, 5)
          }
        }
        // Every ratio is 1.
        expect(lossSum).toBeCloseTo(-3 * drawn, 3)
      }
    }),
    { numRuns: 20 },
  )
})

it('is shifted, with an advantage for each token, and keeps what an encoder reads', () => {
  const prompt = { tokens: Int32Array.of(1, 2, 3), encoderTokens: Int32Array.of(9) }
  const support = { tokens: Int32Array.of(4, 0, 5), offsets: Int32Array.of(0, 2, 3) }
  const sample = {
    tokens: Int32Array.of(4, 5),
    logProbabilities: Float32Array.of(-2, -3),
    drawnLogProbabilities: Float32Array.of(-1, 0),
    stopReason: 'length',
    distribution: { temperature: 0.5, support },
  } as const
  expect(policyDatum(prompt, sample, [1, -1])).toEqual({
    input: { tokens: Int32Array.of(1, 2, 3, 4), encoderTokens: Int32Array.of(9) },
    targets: Int32Array.of(2, 3, 4, 5),
    logProbabilities: Float32Array.of(0, 0, -1, 0),
    advantages: Float32Array.of(0, 0, 1, -1),
    distribution: {
      temperature: 0.5,
      support: { tokens: support.tokens, offsets: Int32Array.of(0, 0, 0, 2, 3) },
    },
  })
  const own = policyDatum(prompt, sample, 2, { distribution: 'model' })
  expect(own.logProbabilities).toEqual(Float32Array.of(0, 0, -2, -3))
  expect(own).not.toHaveProperty('distribution')
  expect(() => policyDatum(prompt, sample, [1])).toThrow(
    'policyDatum: there are 1 advantages: expected one number, or 2, one for each drawn token',
  )
})

it('of a sample that does not tell what top-p took away is refused', async () => {
  const prompt = { tokens: Int32Array.of(0) }
  const request = { prompt, maximumTokens: 8, topP: 0.5 }
  const samples = await sampler.sample([request, { ...request, returnSupport: true }])
  const [untold, told] = samples.map(([sample]) => sample!) as [Sample, Sample]
  expect(() => policyDatum(prompt, untold, 1)).toThrow(
    'under the distribution that the sample tells of: ask with returnSupport',
  )
  expect(policyDatum(prompt, told, 1).distribution).toBeDefined()
  expect(policyDatum(prompt, untold, 1, { distribution: 'model' }).distribution).toBeUndefined()
})
