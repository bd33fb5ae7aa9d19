/**
 * Samplers through the front door: what is drawn agrees with a whole pass and depends on nothing but what it may depend on; stops,
 * supports, prefixes, other models, cancellation, and what is refused.
 */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { bigram } from '../models/bigram.ts'
import { decoder } from '../models/decoder.ts'
import type { Model } from '../models/model.ts'
import { distributionBehind } from '../positions-behind.ts'
import type { Context } from '../sampling/context.ts'
import type { Sample, SampleRequest, ScoreRequest } from '../sampling.ts'
import { smallDecoder } from './fixtures/small-decoder.ts'
import type { EmbeddedSampler } from './sampler.ts'
import { Samplers } from './samplers.ts'

const configuration = { ...smallDecoder, contextLength: 40, keyValueHeads: 1, initialisationScale: 2 }
const model = decoder(configuration)
const values = model.initialValues(1)
const home = new Samplers({ model, adapters: null, threads: 1, tokensAtOnce: 64 })
const sampler = home.create({ values, version: 7, pieceLength: 4 })
const others: Samplers[] = [home]
afterAll(async () => {
  await sampler.dispose()
  for (const samplers of others) await samplers.release()
})

function samplerOf(of: Model, weights = of.initialValues(1), options = {}): EmbeddedSampler {
  const samplers = new Samplers({ model: of, adapters: null, threads: 1, tokensAtOnce: 64, ...options })
  others.push(samplers)
  return samplers.create({ values: weights, version: 0, pieceLength: 4 })
}

const prompt = (...tokens: number[]) => ({ tokens: Int32Array.from(tokens) })
const tokensOf = (samples: readonly (readonly Sample[])[]) => samples.map(rows => rows.map(({ tokens }) => [...tokens]))

const anyRequest: fc.Arbitrary<SampleRequest> = fc.record(
  {
    prompt: fc.array(fc.nat(10), { minLength: 1, maxLength: 9 }).map(tokens => prompt(...tokens)),
    samples: fc.integer({ min: 1, max: 3 }),
    maximumTokens: fc.integer({ min: 1, max: 14 }),
    seed: fc.nat(5),
    temperature: fc.constantFrom(0, 0.5, 1, 1.7),
    topP: fc.constantFrom(1, 0.8),
    topK: fc.constantFrom(11, 3),
    stop: fc.array(fc.array(fc.nat(10), { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
    blocked: fc.subarray([0, 4, 9]),
    topLogProbabilities: fc.constantFrom(0, 2),
    returnSupport: fc.constant(true),
    keepPrefix: fc.boolean(),
  },
  { requiredKeys: ['prompt', 'maximumTokens', 'returnSupport'] },
)

describe('what is drawn', () => {
  it('agrees with a whole pass, as the model has it and as it was drawn, and ends where it should', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { minLength: 1, maxLength: 4 }), async requests => {
        const results = await sampler.sample(requests)
        const pairs = requests.flatMap((request, index) => results[index]!.map(sample => ({ request, sample })))
        const texts = pairs.map(({ request, sample }) => {
          const start = (request.prompt as { tokens: Int32Array }).tokens
          const all = Int32Array.of(...start, ...sample.tokens)
          const distribution = distributionBehind(sample.distribution, start.length - 1)
          return {
            input: { tokens: all.subarray(0, -1) },
            targets: all.subarray(1),
            start: start.length - 1,
            distribution,
          }
        })
        const own = await sampler.score(texts.map(({ input, targets }) => ({ input, targets, topLogProbabilities: 2 })))
        const drawn = await sampler.score(texts.map(({ start: _, ...request }) => request))
        for (const [index, { request, sample }] of pairs.entries()) {
          const { start } = texts[index]!
          const near = (a: Float32Array, b: Float32Array) => {
            for (const [position, value] of a.entries())
              expect(Math.abs(value - b[start + position]!)).toBeLessThan(1e-5)
          }
          near(sample.logProbabilities, own[index]!.logProbabilities)
          near(sample.drawnLogProbabilities, drawn[index]!.logProbabilities)
          const top = sample.topLogProbabilities
          expect(top?.count).toBe(request.topLogProbabilities || undefined)
          if (top) {
            const expected = own[index]!.topLogProbabilities!
            expect([...top.tokens]).toEqual([...expected.tokens.subarray(2 * start)])
            for (const [at, value] of top.logProbabilities.entries())
              expect(Math.abs(value - expected.logProbabilities[2 * start + at]!)).toBeLessThan(1e-5)
          }
          const tokens = [...sample.tokens]
          expect(tokens.some(token => request.blocked?.includes(token))).toBe(false)
          const stopsAt = (end: number) =>
            (request.stop ?? []).some(
              sequence => sequence.join() === tokens.slice(end - sequence.length, end).join() && sequence.length <= end,
            )
          for (let end = 1; end < tokens.length; end++) expect(stopsAt(end)).toBe(false)
          expect(sample.stopReason).toBe(stopsAt(tokens.length) ? 'stop' : 'length')
          if (sample.stopReason === 'length') expect(tokens).toHaveLength(request.maximumTokens)
          expect(sample.prefix && [...sample.prefix.tokens]).toEqual(
            request.keepPrefix ? [...texts[index]!.input.tokens, tokens.at(-1)] : undefined,
          )
        }
      }),
      { numRuns: 12 },
    )
  })

  it('does not depend on what else is asked, the order, the pieces, the threads or how much is computed at once', async () => {
    const requests: SampleRequest[] = [
      { prompt: prompt(1, 2, 3), samples: 5, maximumTokens: 20, temperature: 1.3 },
      { prompt: prompt(4), samples: 2, maximumTokens: 33, topP: 0.9, stop: [[5], [7, 7]] },
      { prompt: prompt(1, 2, 3), samples: 2, maximumTokens: 9, key: 'another', blocked: [2] },
      { prompt: prompt(9, 8, 7, 6, 5, 4, 3, 2, 1), maximumTokens: 12, temperature: 0 },
    ]
    const together = tokensOf(await sampler.sample(requests))
    expect(tokensOf(await sampler.sample(requests.toReversed())).toReversed()).toEqual(together)
    for (const [index, request] of requests.entries())
      expect(tokensOf(await sampler.sample([request]))).toEqual([together[index]])
    const otherwise = home.create({ values, version: 7, pieceLength: 16 })
    expect(tokensOf(await otherwise.sample(requests))).toEqual(together)
    await otherwise.dispose()
    const elsewhere = samplerOf(model, values, { threads: 2, tokensAtOnce: 8 })
    expect(tokensOf(await elsewhere.sample(requests))).toEqual(together)
    await elsewhere.dispose()
    // More samples, also those that wait until others have ended, leave the first ones as they are; another seed or key
    // does not.
    const [most, other] = tokensOf(await sampler.sample([{ ...requests[0]!, samples: 290 }, requests[1]!]))
    expect(most!.slice(0, 5)).toEqual(together[0])
    expect(other).toEqual(together[1])
    const [later] = tokensOf(await sampler.sample([{ ...requests[0]!, firstSample: 3, samples: 4 }]))
    expect(later).toEqual(most!.slice(3, 7))
    expect(new Set(most!.map(String)).size).toBe(290)
    for (const change of [{ seed: 1 }, { key: 'another' }])
      expect(tokensOf(await sampler.sample([{ ...requests[0]!, ...change }]))).not.toEqual([together[0]])
  })

  it('is the same to the last bit on one thread and on two', async () => {
    // Large enough that the work is divided, in reading prompts and in drawing.
    const wide = decoder({
      ...configuration,
      vocabulary: 200,
      contextLength: 256,
      width: 384,
      heads: 4,
      keyValueHeads: 2,
    })
    const weights = wide.initialValues(2)
    const requests = Array.from({ length: 24 }, (_, index) => ({
      prompt: prompt(...Array.from({ length: 3 + 6 * index }, (_, place) => (place * index) % 200)),
      maximumTokens: 6,
      topP: 0.95,
    }))
    const [one, two] = [samplerOf(wide, weights), samplerOf(wide, weights, { threads: 2 })]
    expect(await two.sample(requests)).toEqual(await one.sample(requests))
    for (const each of [one, two]) await each.dispose()
  })

  it('has the frequencies of its distribution', async () => {
    const table = bigram({ vocabulary: 4, contextLength: 8 })
    const probabilities = [0.1, 0.2, 0.3, 0.4]
    const logits = Float32Array.from({ length: 16 }, (_, index) => Math.log(probabilities[index % 4]!))
    const drawing = samplerOf(table, new Map([['logits', logits]]))
    const [samples] = await drawing.sample([{ prompt: prompt(0), samples: 2000, maximumTokens: 2 }])
    for (const position of [0, 1]) {
      const counts = [0, 0, 0, 0]
      for (const { tokens } of samples!) counts[tokens[position]!]!++
      const chiSquare = counts.reduce(
        (sum, count, token) => sum + (count - 2000 * probabilities[token]!) ** 2 / (2000 * probabilities[token]!),
        0,
      )
      // Three degrees of freedom: one in ten thousand is above 21.
      expect(chiSquare).toBeLessThan(21)
    }
    await drawing.dispose()
  })
})

describe('prefixes', () => {
  it('go on as their text does, also where a sample was kept, and hold what they share once', async () => {
    const text = [3, 1, 4, 1, 5, 9, 2, 6]
    const whole = { prompt: prompt(...text), samples: 2, maximumTokens: 10, keepPrefix: true }
    const [fromText] = await sampler.sample([whole])
    const root = await sampler.prefix(prompt(3, 1, 4))
    const inner = await sampler.extend(root, Int32Array.of(1, 5))
    const leaf = await sampler.extend(inner, Int32Array.of(9, 2, 6))
    expect([...leaf.tokens]).toEqual(text)
    expect(await sampler.extend(leaf, new Int32Array(0))).toBe(leaf)
    const [fromLeaf] = await sampler.sample([{ ...whole, prompt: leaf }])
    expect(tokensOf([fromLeaf!])).toEqual(tokensOf([fromText!]))
    const segments = [root, inner, leaf, fromLeaf![0]!.prefix!].map(prefix => (prefix as Context).segment!)
    for (const [index, segment] of segments.entries()) {
      expect(segment.before).toBe(segments[index - 1] ?? null)
      // All but the last token, whose keys are computed when it is read.
      expect([segment.start, segment.end]).toEqual(
        [
          [0, 2],
          [2, 4],
          [4, 7],
          [7, 17],
        ][index],
      )
    }
    // A kept sample and the same text anew.
    const { prefix, tokens } = fromLeaf![1]!
    const request = { samples: 2, maximumTokens: 8, temperature: 1.5 }
    const onwards = await sampler.sample([
      { ...request, prompt: prefix! },
      { ...request, prompt: prompt(...text, ...tokens) },
    ])
    expect(tokensOf([onwards[0]!])).toEqual(tokensOf([onwards[1]!]))
  })

  it('of another sampler, or made up, are refused', async () => {
    const other = home.create({ values, version: 8 })
    const prefix = await other.prefix(prompt(1, 2))
    for (const wrong of [prefix, { length: 2, tokens: Int32Array.of(1, 2) }]) {
      await expect(sampler.extend(wrong, Int32Array.of(1))).rejects.toThrow('a prefix that this sampler did not make')
      await expect(sampler.sample([{ prompt: wrong, maximumTokens: 1 }])).rejects.toThrow(
        'sample: requests[0].prompt is a prefix that this sampler did not make',
      )
    }
    await other.dispose()
  })
})

it('samples a model that keeps nothing of what it has read by whole passes, with the same tokens', async () => {
  const forgetful = samplerOf({ ...model, incremental: null }, values)
  const requests: SampleRequest[] = [
    { prompt: prompt(1, 2), samples: 2, maximumTokens: 5, temperature: 0.7, topLogProbabilities: 1, keepPrefix: true },
    { prompt: prompt(3), maximumTokens: 3, topK: 2, returnSupport: true },
  ]
  const expected = await sampler.sample(requests)
  const actual = await forgetful.sample(requests)
  expect(tokensOf(actual)).toEqual(tokensOf(expected))
  expect([...actual[1]![0]!.distribution.support!.tokens]).toEqual([...expected[1]![0]!.distribution.support!.tokens])
  const onwards = { maximumTokens: 3, prompt: actual[0]![1]!.prefix! }
  const prefix = await sampler.prefix({ tokens: onwards.prompt.tokens })
  expect(tokensOf(await forgetful.sample([onwards]))).toEqual(
    tokensOf(await sampler.sample([{ ...onwards, prompt: prefix }])),
  )
  await forgetful.dispose()
})

it('distributions hold every token, minus infinity where there is no probability', async () => {
  const input = prompt(1, 2, 3)
  const support = { tokens: Int32Array.of(1, 4), offsets: Int32Array.of(0, 0, 2, 2) }
  const [own, cut] = await sampler.distributions([{ input }, { input, distribution: { blocked: [0], support } }])
  const { logProbabilities } = (await sampler.score([{ input, targets: Int32Array.of(4, 4, 4) }]))[0]!
  for (const [position, value] of logProbabilities.entries()) expect(own![position * 11 + 4]).toBeCloseTo(value, 5)
  const left = [...cut!.entries()].flatMap(([index, value]) => (value === Number.NEGATIVE_INFINITY ? [] : [index]))
  const allBut = (position: number) => Array.from({ length: 10 }, (_, token) => position * 11 + token + 1)
  expect(left).toEqual([...allBut(0), 12, 15, ...allBut(2)])
  const [pinned] = await sampler.score([
    { input, targets: Int32Array.of(1, 1, 0), distribution: { blocked: [0], support } },
  ])
  expect(pinned!.logProbabilities[1]).toBeCloseTo(cut![12]!, 6)
  expect(pinned!.logProbabilities[2]).toBe(Number.NEGATIVE_INFINITY)
})

it('ends a call between two pieces with the reason of its signal, and goes on after', async () => {
  const request = { prompt: prompt(1), samples: 64, maximumTokens: 40 }
  const controller = new AbortController()
  const call = sampler.sample([request], { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 0)
  await expect(call).rejects.toThrow('enough')
  const later = new AbortController()
  const scores = sampler.score(
    Array.from({ length: 400 }, (_, index) => ({ input: prompt(1, index % 11), targets: Int32Array.of(2, 3) })),
    { signal: later.signal },
  )
  setTimeout(() => later.abort(new Error('enough')), 0)
  await expect(scores).rejects.toThrow('enough')
  expect((await sampler.sample([{ prompt: prompt(1), maximumTokens: 2 }]))[0]![0]!.tokens).toHaveLength(2)
})

it.each([
  [{ maximumTokens: 0 }, 'requests[0].maximumTokens is 0: expected a positive whole number'],
  [{ samples: 1.5 }, 'samples is 1.5'],
  [{ temperature: -1 }, 'temperature is -1: expected 0, or a number from 0.000001 on'],
  [{ temperature: 1e-7 }, 'temperature is 1e-7: expected 0, or a number from 0.000001 on'],
  [{ firstSample: -1 }, 'firstSample is -1: expected a whole number from 0 on'],
  [{ firstSample: 2 ** 32 - 1, samples: 2 }, 'firstSample is 4294967295: expected a whole number from 0 on, so that'],
  [{ topP: 0 }, 'topP is 0: expected a number above 0, up to 1'],
  [{ topK: 0 }, 'topK is 0'],
  [{ topLogProbabilities: 12 }, 'topLogProbabilities is 12: expected a whole number from 0 to the 11 tokens'],
  [{ blocked: [11] }, 'requests[0].blocked[0] is 11: expected a token from 0 to 10'],
  [{ blocked: Array.from({ length: 11 }, (_, token) => token) }, 'blocked names every token of the vocabulary'],
  [{ stop: [[1], [2, 11]] }, 'requests[0].stop[1][1] is 11: expected a token from 0 to 10'],
  [{ stop: [[1], []] }, 'requests[0].stop[1] is empty: expected a sequence of tokens'],
  [{ seed: Number.NaN }, 'seed is NaN'],
  [{ maximumTokens: 39 }, 'a prompt of 3 tokens and 39 more do not fit the 40 positions of the model'],
  [{ prompt: prompt() }, 'requests[0].prompt has no tokens'],
  [{ prompt: prompt(3, 11) }, 'tokens[1] is 11: expected a token from 0 to 10'],
  [{ prompt: { tokens: Int32Array.of(1), encoderTokens: Int32Array.of(1) } }, 'has encoderTokens'],
] as [Partial<SampleRequest>, string][])('refuses %j before anything is computed', async (change, sentence) => {
  const good = { prompt: prompt(1, 2, 3), maximumTokens: 1 }
  await expect(sampler.sample([{ ...good, ...change }])).rejects.toThrow(sentence)
})

it.each<readonly [Partial<ScoreRequest>, string]>([
  [{ targets: Int32Array.of(1) }, 'score: requests[1].targets has 1 entries: expected 2'],
  [{ targets: Int32Array.of(1, 11) }, 'score: requests[1].targets[1] is 11: expected a token from 0 to 10'],
  [
    { topLogProbabilities: 12 },
    'requests[1].topLogProbabilities is 12: expected a whole number from 0 to the 11 tokens',
  ],
  [{ topLogProbabilities: Number.NaN }, 'requests[1].topLogProbabilities is NaN'],
  [
    { prefix: { length: 1, tokens: Int32Array.of(1) } },
    'score: requests[1].prefix is a prefix that this sampler did not',
  ],
  [{ targets: 'vocabulary' as never }, "requests[1].targets is 'vocabulary': ask distributions for every token"],
  [
    { targets: { tokens: Int32Array.of(1), offsets: Int32Array.of(0, 1) } },
    'requests[1].targets.offsets has 2 entries: expected 3',
  ],
  [{ distribution: { temperature: 0 } }, 'requests[1].distribution.temperature is 0: expected a positive number'],
])('refuses to score %j', async (change, sentence) => {
  const good = { input: prompt(1, 2), targets: Int32Array.of(2, 3) }
  await expect(sampler.score([good, { ...good, ...change }])).rejects.toThrow(sentence)
})

it('refuses to extend beyond the context, and everything once it is disposed of', async () => {
  const ended = home.create({ values, version: 9 })
  const prefix = await ended.prefix(prompt(...new Array<number>(38).fill(1)))
  await expect(ended.extend(prefix, Int32Array.of(1, 2, 3))).rejects.toThrow(
    'a prefix of 38 tokens and 3 more do not fit the 40',
  )
  await expect(ended.score([{ prefix, input: prompt(1, 2, 3), targets: Int32Array.of(1, 2, 3) }])).rejects.toThrow(
    'score: requests[0]: a prefix of 38 tokens and 3 more do not fit the 40 positions',
  )
  const encoderTokens = Int32Array.of(1)
  await expect(
    ended.score([{ prefix, input: { ...prompt(1), encoderTokens }, targets: Int32Array.of(1) }]),
  ).rejects.toThrow('input has encoderTokens: those of its prefix count, leave them out')
  expect(ended.version).toBe(9)
  await ended.dispose()
  await ended.dispose()
  const calls = [
    ended.sample([{ prompt: prompt(1), maximumTokens: 1 }]),
    ended.score([{ input: prompt(1), targets: Int32Array.of(1) }]),
    ended.distributions([{ input: prompt(1) }]),
    ended.prefix(prompt(1)),
    ended.extend(prefix, Int32Array.of(1)),
    ended.beamSearch([{ prompt: prompt(1), beams: 1, maximumTokens: 1, stop: [] }]),
  ]
  for (const call of calls) await expect(call).rejects.toThrow('the sampler was disposed of')
  expect((await sampler.sample([{ prompt: prompt(1), maximumTokens: 1 }]))[0]).toHaveLength(1)
})
