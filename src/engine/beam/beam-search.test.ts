import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import type { CrossEntropyDatum, ModelInput } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import { decoder } from '../models/decoder.ts'
import { encoderDecoder } from '../models/encoder-decoder.ts'
import type { Beam, BeamRequest } from '../sampling.ts'
import { checkBeamRequests } from './beam-request.ts'
import { beamSearch } from './beam-search.ts'
import { type Frontier, type FrontierStart, wholeFrontier } from './frontier.ts'
import { trieOf } from './trie.ts'

/** A model that is a table: other log-probabilities after each beginning. Rounded coarsely, so that there are ties. */
function table(vocabulary: number, seed: number, known = new Map<string, Float32Array>()): FrontierStart {
  const random = seededRandom(seed)
  const row = (tokens: Int32Array) => {
    const key = tokens.join()
    const stream = random.fork(key)
    const values = known.get(key) ?? Float32Array.from({ length: vocabulary }, () => -stream.integer(16) / 4)
    known.set(key, values)
    return values
  }
  const read = async (inputs: readonly ModelInput[]): Promise<Frontier> => {
    return {
      logProbabilities: inputs.map(({ tokens }) => row(tokens)),
      extend: (parents, tokens) =>
        read(parents.map((parent, index) => ({ tokens: Int32Array.of(...inputs[parent]!.tokens, tokens[index]!) }))),
    }
  }
  return requests => read(requests.map(({ prompt }) => prompt))
}

interface Problem {
  readonly vocabulary: number
  readonly seed: number
  readonly request: BeamRequest
}

const problems: fc.Arbitrary<Problem> = fc
  .record({
    vocabulary: fc.integer({ min: 2, max: 4 }),
    seed: fc.nat(),
    beams: fc.integer({ min: 1, max: 6 }),
    maximumTokens: fc.integer({ min: 1, max: 4 }),
    stop: fc.uniqueArray(fc.nat({ max: 3 }), { maxLength: 2 }),
    allowed: fc.option(fc.array(fc.array(fc.nat({ max: 3 }), { maxLength: 3 }), { minLength: 1, maxLength: 8 })),
    prompt: fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 3 }),
  })
  .map(({ vocabulary, seed, beams, maximumTokens, stop, allowed, prompt }) => ({
    vocabulary,
    seed,
    request: {
      prompt: { tokens: Int32Array.from(prompt) },
      beams,
      maximumTokens,
      stop: stop.map(token => token % vocabulary),
      // Token 0 ends every allowed sequence, so that none begins with another.
      ...(allowed && {
        constraint: trieOf(allowed.map(tokens => [...tokens.map(token => 1 + (token % (vocabulary - 1))), 0])),
      }),
    },
  }))

interface Found {
  readonly tokens: number[]
  readonly logProbability: number
  readonly state: number
  readonly stopReason: 'stop' | 'length' | null
}

const inOrder = (a: Found, b: Found) =>
  b.logProbability - a.logProbability || (a.tokens.join() < b.tokens.join() ? -1 : 1)

/** All that may follow a beginning, by the definition. */
async function continuations({ vocabulary, seed, request }: Problem, { tokens, logProbability, state }: Found) {
  const { prompt, stop, constraint, maximumTokens } = request
  const { logProbabilities } = await table(
    vocabulary,
    seed,
  )([{ ...request, prompt: { tokens: Int32Array.of(...prompt.tokens, ...tokens) } }])
  const allowed = constraint
    ? [...constraint.next[state]!]
    : Array.from({ length: vocabulary }, (_, token) => [token, 0])
  return allowed.map(([token, following]): Found => {
    const isStopped = stop.includes(token!) || (constraint && constraint.next[following!]!.size === 0)
    const isLast = tokens.length + 1 === maximumTokens
    return {
      tokens: [...tokens, token!],
      logProbability: logProbability + logProbabilities[0]![token!]!,
      state: following!,
      stopReason: isStopped ? 'stop' : isLast ? 'length' : null,
    }
  })
}

/** Beam search without cleverness: as many beginnings and as many ends as there are beams, until nothing goes on. */
async function reference(problem: Problem, beams: number): Promise<Found[]> {
  let open: Found[] = [{ tokens: [], logProbability: 0, state: 0, stopReason: null }]
  let ended: Found[] = []
  while (open.length > 0) {
    const all = (await Promise.all(open.map(hypothesis => continuations(problem, hypothesis)))).flat()
    ended = [...ended, ...all.filter(({ stopReason }) => stopReason)].sort(inOrder).slice(0, beams)
    open = all
      .filter(({ stopReason }) => !stopReason)
      .sort(inOrder)
      .slice(0, beams)
  }
  return ended
}

const plain = (found: readonly (Found | Beam)[]) =>
  found.map(({ tokens, logProbability, stopReason }) => ({ tokens: [...tokens], logProbability, stopReason }))

test('it finds what a search without cleverness finds, in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(problems, async problem => {
      const [beams] = await beamSearch(table(problem.vocabulary, problem.seed), [problem.request])
      expect(plain(beams!)).toEqual(plain(await reference(problem, problem.request.beams)))
    }),
    { numRuns: 150 },
  )
})

test('with as many beams as there are sequences it finds all of them, best first', async () => {
  await fc.assert(
    fc.asyncProperty(problems, async problem => {
      const all = await reference(problem, Number.POSITIVE_INFINITY)
      const request = { ...problem.request, beams: all.length }
      const [beams] = await beamSearch(table(problem.vocabulary, problem.seed), [request])
      expect(plain(beams!)).toEqual(plain(all))
    }),
    { numRuns: 50 },
  )
})

test('requests together, of any lengths and in any groups, find what each finds alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(problems, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 12 }),
      async (several, rowsAtOnce) => {
        const model = table(4, 1)
        const requests = several.map(({ request }) => request)
        const alone = await Promise.all(requests.map(async request => (await beamSearch(model, [request]))[0]))
        expect(await beamSearch(model, requests, { rowsAtOnce })).toEqual(alone)
      },
    ),
    { numRuns: 30 },
  )
})

test('a constraint takes away and does not renormalise; every beam is one of the allowed', async () => {
  const allowed = [
    [1, 2, 3],
    [1, 3],
    [2, 2],
  ]
  const request = { prompt: { tokens: Int32Array.of(0) }, maximumTokens: 3, stop: [], constraint: trieOf(allowed) }
  const known = new Map<string, Float32Array>()
  const [beams] = await beamSearch(table(4, 8, known), [{ ...request, beams: 9 }])
  expect(beams!.map(({ tokens }) => [...tokens].join()).toSorted()).toEqual(['1,2,3', '1,3', '2,2'])
  for (const { tokens, logProbability, stopReason } of beams!) {
    const sum = tokens.reduce(
      (total, token, place) => total + known.get([0, ...tokens.slice(0, place)].join())![token]!,
      0,
    )
    expect(logProbability).toBe(sum)
    expect(stopReason).toBe('stop')
  }
})

test('equal sequences come in the order of their tokens; impossible ones do not come', async () => {
  const rows: FrontierStart = async function start(inputs) {
    return {
      logProbabilities: inputs.map(() => Float32Array.of(-1, -1, Number.NEGATIVE_INFINITY)),
      extend: parents => start(parents.map(parent => inputs[parent]!)),
    }
  }
  const request = { prompt: { tokens: Int32Array.of(0) }, maximumTokens: 2, stop: [1], beams: 9 }
  const [beams] = await beamSearch(rows, [request])
  expect(beams!.map(({ tokens }) => [...tokens])).toEqual([[1], [0, 0], [0, 1]])
  expect(beams!.map(({ stopReason }) => stopReason)).toEqual(['stop', 'length', 'stop'])
})

test('a search can be ended, and one on weights that diverged ends by itself', async () => {
  const request = { prompt: { tokens: Int32Array.of(0) }, maximumTokens: 3, stop: [], beams: 2 }
  const controller = new AbortController()
  const model = table(3, 1)
  const stopping: FrontierStart = async inputs => {
    controller.abort(new Error('enough'))
    return model(inputs)
  }
  await expect(beamSearch(stopping, [request], { signal: controller.signal })).rejects.toThrow('enough')
  const diverged: FrontierStart = async () => ({
    logProbabilities: [Float32Array.of(0, Number.NaN)],
    extend: () => Promise.reject(new Error('unreachable')),
  })
  await expect(beamSearch(diverged, [request])).rejects.toThrow('the log-probability of token 1 is not a number')
})

test.each([
  [{ beams: 0 }, 'requests[0]: beams is 0: expected a positive whole number'],
  [{ maximumTokens: 1.5 }, 'requests[0]: maximumTokens is 1.5: expected a positive whole number'],
  [{ maximumTokens: 8 }, 'requests[0]: a prompt of 2 and 8 tokens more do not fit a context of 8'],
  [{ stop: [4] }, 'requests[0].stop[0] is 4: expected a token from 0 to 3'],
  [{ constraint: { next: [] } }, 'requests[0]: the constraint allows no first token'],
  [{ constraint: { next: [new Map([[5, 1]]), new Map()] } }, 'allows 5 in state 0, which is not one of the 4 tokens'],
  [{ constraint: { next: [new Map([[1, 2]])] } }, 'leads from state 0 to 2, and has only 1 states'],
])('what cannot be is refused with a sentence (%#)', (wrong, sentence) => {
  const request = { prompt: { tokens: Int32Array.of(0, 1) }, beams: 2, maximumTokens: 7, stop: [3] }
  expect(() => checkBeamRequests([{ ...request, ...wrong }], { vocabulary: 4, contextLength: 8 })).toThrow(sentence)
  expect(() => checkBeamRequests([request], { vocabulary: 4, contextLength: 8 })).not.toThrow()
})

describe('a sampler', () => {
  const engine = createEmbeddedEngine()
  afterAll(() => engine.dispose())
  const shape = {
    vocabulary: 5,
    contextLength: 8,
    depth: 1,
    width: 8,
    heads: 2,
    keyValueHeads: 1,
    activation: 'gelu',
    // Large, so that what it says depends a lot on what it read.
    initialisationScale: 4,
  } as const
  const table = bigram({ vocabulary: 5, contextLength: 8, initialDeviation: 2 })
  const allowed = [
    [1, 2, 4],
    [1, 3, 4],
    [3, 4],
    [2, 2, 2, 4],
  ]
  const constraint = trieOf(allowed)
  const encoder = { encoderDepth: 1, encoderContextLength: 12, sharedEmbeddings: false }
  const encoderTokens = [Int32Array.of(1, 2, 3, 4, 0, 1, 2), Int32Array.of(4, 0, 4)]

  test.each([
    ['decoder', decoder(shape), []],
    ['encoder-decoder', encoderDecoder({ ...shape, ...encoder }), encoderTokens],
    [
      'one whose encoder reads the last tokens',
      encoderDecoder({ ...shape, ...encoder, encoderWindow: 4 }),
      encoderTokens,
    ],
    ['one that keeps nothing of what it read', table, []],
    ['one that can only read all anew', { ...table, incremental: null }, []],
  ])('%s: all allowed sequences, with the log-probabilities that a forward pass gives them', async (_, model, read) => {
    const trainer = await engine.createTrainer({ model, seed: 4 })
    const sampler = await trainer.snapshot()
    const prompts = [Int32Array.of(1), Int32Array.of(2, 0, 3, 1)].map((tokens, index): ModelInput => {
      return { tokens, ...(read[index] && { encoderTokens: read[index] }) }
    })
    const requests = prompts.map(prompt => ({ prompt, beams: 5, maximumTokens: 4, stop: [4], constraint }))
    const found = await sampler.beamSearch(requests)
    for (const [index, prompt] of prompts.entries()) {
      const data = allowed.map((sequence): CrossEntropyDatum => {
        const whole = Int32Array.of(...prompt.tokens, ...sequence)
        const weights = new Float32Array(whole.length - 1).fill(1, prompt.tokens.length - 1)
        return { input: { ...prompt, tokens: whole.slice(0, -1) }, targets: whole.slice(1), weights }
      })
      const { losses } = await trainer.forward(data, { kind: 'cross_entropy' })
      const expected = allowed
        .map((tokens, place) => ({ tokens, sum: -losses[place]!.reduce((sum, value) => sum + value, 0) }))
        .sort((a, b) => b.sum - a.sum)
      expect(found[index]!.map(({ tokens }) => [...tokens])).toEqual(expected.map(({ tokens }) => tokens))
      for (const [place, { sum }] of expected.entries())
        expect(found[index]![place]!.logProbability).toBeCloseTo(sum, 5)
    }
  })

  test('beams that are few, or are one and become many, find what a search without a cache finds', async () => {
    const trainer = await engine.createTrainer({ model: decoder(shape), seed: 5 })
    const sampler = await trainer.snapshot()
    const narrow = trieOf(Array.from({ length: 25 }, (_, number) => [3, number % 5, Math.floor(number / 5)]))
    const requests = [
      { prompt: { tokens: Int32Array.of(0) }, beams: 16, maximumTokens: 3, stop: [], constraint: narrow },
      { prompt: { tokens: Int32Array.of(2, 0, 3) }, beams: 3, maximumTokens: 6, stop: [4] },
      { prompt: { tokens: Int32Array.of(1) }, beams: 1, maximumTokens: 3, stop: [] },
    ]
    const expected = await beamSearch(wholeFrontier(sampler), requests)
    const found = await sampler.beamSearch(requests)
    for (const [index, beams] of expected.entries()) {
      expect(found[index]!.map(({ tokens }) => tokens)).toEqual(beams.map(({ tokens }) => tokens))
      for (const [place, { logProbability }] of beams.entries())
        expect(found[index]![place]!.logProbability).toBeCloseTo(logProbability, 5)
    }
    expect(found.map(({ length }) => length)).toEqual([16, 3, 1])
    await expect(sampler.beamSearch([{ ...requests[1]!, maximumTokens: 7 }])).rejects.toThrow(
      'do not fit a context of 8',
    )
    const [request] = requests
    const wrong = { ...request!, prompt: { tokens: Int32Array.of(5) } }
    await expect(sampler.beamSearch([wrong])).rejects.toThrow('beamSearch: requests[0].prompt')
  })
})
