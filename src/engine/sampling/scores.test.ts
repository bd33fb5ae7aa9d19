/**
 * Scores behind a prefix, of several targets a position and without adapters are those of whole inputs, whatever the model.
 */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { RaggedTokens } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import { encoderDecoder } from '../models/encoder-decoder.ts'
import type { Sampler, Score, ScoreRequest } from '../sampling.ts'
import type { Context } from './context.ts'

const configuration: DecoderOptions = {
  vocabulary: 7,
  contextLength: 16,
  depth: 1,
  width: 8,
  heads: 2,
  keyValueHeads: 1,
  activation: 'gelu',
  tiedEmbeddings: true,
  initialisationScale: 2,
}
const engine = createEmbeddedEngine({ tokensAtOnce: 64 })
afterAll(() => engine.dispose())
const sampler = await (await engine.createTrainer({ model: decoder(configuration), seed: 1 })).snapshot()

const anyTokens = (minLength: number, maxLength: number) =>
  fc.array(fc.nat(6), { minLength, maxLength }).map(tokens => Int32Array.from(tokens))
const anyRagged = (positions: number, least: number): fc.Arbitrary<RaggedTokens> =>
  fc
    .array(fc.uniqueArray(fc.nat(6), { minLength: least, maxLength: 3 }), {
      minLength: positions,
      maxLength: positions,
    })
    .map(lists => ({
      tokens: Int32Array.from(lists.flat()),
      offsets: Int32Array.from([0, ...lists.map((_, index) => lists.slice(0, index + 1).flat().length)]),
    }))

/** A request, and the tokens of the prefix that it should be asked with. */
const anyRequest = fc.record({ before: anyTokens(1, 9), tokens: anyTokens(1, 6) }).chain(({ before, tokens }) => {
  const request: fc.Arbitrary<ScoreRequest> = fc.record(
    {
      input: fc.constant({ tokens }),
      targets: fc.oneof(anyTokens(tokens.length, tokens.length), anyRagged(tokens.length, 0)),
      distribution: fc.record(
        {
          temperature: fc.constantFrom(0.5, 1.5),
          blocked: fc.constant([2]),
          support: anyRagged(tokens.length, 0).filter(({ tokens, offsets }) =>
            offsets.slice(1).every((end, index) => tokens.subarray(offsets[index]!, end).join() !== '2'),
          ),
        },
        { requiredKeys: [] },
      ),
      topLogProbabilities: fc.constantFrom(0, 1, 3),
    },
    { requiredKeys: ['input', 'targets'] },
  )
  return fc.record({ before: fc.constant(before), request })
})

/** The same text without a prefix: what stands before has targets that are cut off again. */
async function scoredWhole(of: Sampler, before: Int32Array, request: ScoreRequest): Promise<Score> {
  const { input, targets, distribution, topLogProbabilities: count = 0 } = request
  const { length } = before
  const ahead = new Array<number>(length).fill(0)
  const behind = ({ tokens, offsets }: RaggedTokens) => ({ tokens, offsets: Int32Array.of(...ahead, ...offsets) })
  const isSingle = targets instanceof Int32Array
  const [score] = await of.score([
    {
      ...request,
      input: { ...input, tokens: Int32Array.of(...before, ...input.tokens) },
      targets: isSingle ? Int32Array.of(...ahead, ...targets) : behind(targets),
      ...(distribution && {
        distribution: {
          ...distribution,
          ...(distribution.support && { support: behind(distribution.support) }),
        },
      }),
    },
  ])
  const { logProbabilities, topLogProbabilities } = score!
  return {
    logProbabilities: isSingle ? logProbabilities.subarray(length) : logProbabilities,
    ...(topLogProbabilities && {
      topLogProbabilities: {
        count,
        tokens: topLogProbabilities.tokens.subarray(count * length),
        logProbabilities: topLogProbabilities.logProbabilities.subarray(count * length),
      },
    }),
  }
}

function expectNear(actual: Score, expected: Score): void {
  const near = (a: Float32Array, b: Float32Array) => {
    expect(a).toHaveLength(b.length)
    for (const [index, value] of b.entries())
      if (Number.isFinite(value)) expect(Math.abs(a[index]! - value)).toBeLessThan(1e-5)
      else expect(a[index]).toBe(value)
  }
  near(actual.logProbabilities, expected.logProbabilities)
  expect(actual.topLogProbabilities?.tokens).toEqual(expected.topLogProbabilities?.tokens)
  if (expected.topLogProbabilities)
    near(actual.topLogProbabilities!.logProbabilities, expected.topLogProbabilities.logProbabilities)
}

describe('behind a prefix', () => {
  it('are those of the whole text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { minLength: 1, maxLength: 5 }), async pairs => {
        const requests = await Promise.all(
          pairs.map(async ({ before, request }) => ({ ...request, prefix: await sampler.prefix({ tokens: before }) })),
        )
        const scores = await sampler.score([...requests, pairs[0]!.request])
        for (const [index, { before, request }] of pairs.entries())
          expectNear(scores[index]!, await scoredWhole(sampler, before, request))
        expectNear(scores.at(-1)!, await scoredWhole(sampler, new Int32Array(0), pairs[0]!.request))
      }),
      { numRuns: 12 },
    )
  })

  it('are computed from what the prefix holds, be it a prompt, longer, or that of a sample', async () => {
    const prompt = { tokens: Int32Array.of(3, 1, 4, 1) }
    const prefix = await sampler.extend(await sampler.prefix(prompt), Int32Array.of(5, 2))
    const [samples] = await sampler.sample([{ prompt: prefix, maximumTokens: 3, keepPrefix: true }])
    // The longer one first: they share what is wiped out.
    const request = { input: { tokens: Int32Array.of(6, 5, 3) }, targets: Int32Array.of(5, 3, 5) }
    for (const from of [samples![0]!.prefix!, prefix]) {
      const [score] = await sampler.score([{ ...request, prefix: from }])
      const expected = await scoredWhole(sampler, from.tokens, request)
      expectNear(score!, expected)
      for (const held of (from as Context).segment!.entries.values()) held.fill(0)
      const [changed] = await sampler.score([{ ...request, prefix: from }])
      expect(Math.abs(changed!.logProbabilities[0]! - expected.logProbabilities[0]!)).toBeGreaterThan(1e-3)
    }
  })

  const encoded = { encoderDepth: 1, encoderWindow: 3, encoderContextLength: 12, sharedEmbeddings: true }
  const memory = { slots: 9, chosen: 3, query: 'history' } as const
  it.each([
    ['that keeps nothing', bigram({ vocabulary: 7, contextLength: 16, initialDeviation: 1 }), {}],
    ['that can only be computed whole', decoder({ ...configuration, attention: 'bidirectional' }), {}],
    [
      'with an encoder and a memory',
      encoderDecoder({ ...configuration, ...encoded, memory }),
      { encoderTokens: Int32Array.of(1, 2, 3) },
    ],
  ])('of a model %s', async (_, model, text) => {
    const trainer = await engine.createTrainer({ model, seed: 1 })
    const other = await trainer.snapshot()
    const before = Int32Array.of(2, 6, 1)
    const tokens = Int32Array.of(4, 5)
    const prefix = await other.prefix({ ...text, tokens: before })
    const request = { targets: Int32Array.of(5, 1), topLogProbabilities: 2 }
    const [score] = await other.score([{ ...request, prefix, input: { tokens } }])
    expectNear(score!, await scoredWhole(other, before, { ...request, input: { ...text, tokens } }))
    await trainer.dispose()
    await other.dispose()
  })

  it('without adapters are those of the base, with and without a prefix', async () => {
    const model = decoder(configuration)
    const trainer = await engine.createTrainer({ model, values: model.initialValues(1), adapters: { rank: 2 } })
    const values = await trainer.values()
    await trainer.setValues(new Map([...values].map(([name, array]) => [name, array.map(value => value + 0.3)])))
    const adapted = await trainer.snapshot()
    const tokens = Int32Array.of(2, 6, 1, 4)
    const [input, targets] = [{ tokens: tokens.subarray(2) }, Int32Array.of(5, 1)]
    const prefix = await adapted.prefix({ tokens: tokens.subarray(0, 2) })
    const [own, without] = await adapted.score([
      { prefix, input, targets },
      { prefix, input, targets, adapter: false },
      { input: { tokens }, targets: Int32Array.of(0, 0, ...targets), adapter: false },
    ])
    expectNear(own!, await scoredWhole(adapted, tokens.subarray(0, 2), { input, targets }))
    const expected = await scoredWhole(sampler, tokens.subarray(0, 2), { input, targets })
    expectNear(without!, expected)
    expect(Math.abs(own!.logProbabilities[0]! - expected.logProbabilities[0]!)).toBeGreaterThan(1e-2)
    await trainer.dispose()
    await adapted.dispose()
  })
})

it('ragged targets are scored in their order, and a position may have none', async () => {
  const input = { tokens: Int32Array.of(1, 2, 3) }
  const targets = { tokens: Int32Array.of(4, 0, 6, 5), offsets: Int32Array.of(0, 3, 3, 4) }
  const [several, ...single] = await sampler.score([
    { input, targets },
    ...[4, 0, 6, 5].map(token => ({ input, targets: new Int32Array(3).fill(token) })),
  ])
  for (const [index, position] of [0, 0, 0, 2].entries())
    expect(several!.logProbabilities[index]).toBeCloseTo(single[index]!.logProbabilities[position]!, 5)
})
