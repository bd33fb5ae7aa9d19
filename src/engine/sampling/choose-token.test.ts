/**
 * The choice of a token against the same written plainly, over random logits and options; what a batch needs is compiled once, as all of it.
 */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { Graph } from '../graph/graph.ts'
import { compile, type Program } from '../graph/program.ts'
import type { SampleRequest } from '../sampling.ts'
import { choiceFeeds, choiceVariant, filters } from './choice-feeds.ts'
import { choiceInputs, chooseToken } from './choose-token.ts'

const vocabulary = 7
const rows = 8
type Options = Pick<SampleRequest, 'temperature' | 'topP' | 'topK' | 'blocked'>
const request = (options: Options): SampleRequest => ({
  prompt: { tokens: Int32Array.of(0) },
  maximumTokens: 1,
  returnSupport: true,
  topLogProbabilities: 3,
  ...options,
})

/** Of all that may be asked for; and of top-k alone, for which three tokens a row are enough. */
const variants = {
  everything: choiceVariant(
    [request({ temperature: 0 }), request({ temperature: 2, topP: 0.5, blocked: [1] })],
    vocabulary,
  ),
  'top-k': choiceVariant([request({ temperature: 0 }), request({ temperature: 2, topK: 3, blocked: [1] })], vocabulary),
}
const uniformOf = (graph: Graph) => graph.input('uniform', [rows, 1], 'float64')
const programs = new Map<string, Program>()
for (const [name, variant] of Object.entries(variants)) {
  const graph = new Graph()
  const logits = graph.input('logits', [rows, vocabulary])
  const inputs = choiceInputs(graph, variant, rows, vocabulary)
  programs.set(name, await compile({ ...chooseToken(logits, inputs, variant, uniformOf(graph)) }))
}
afterAll(async () => {
  for (const program of programs.values()) await program.dispose()
})

/** Tokens from the most probable on; of equal ones the earlier comes first. */
const ranked = (values: readonly number[]) =>
  values.map((_, token) => token).sort((a, b) => values[b]! - values[a]! || a - b)

function softmax(values: readonly number[]): number[] {
  const largest = Math.max(...values)
  const exponentials = values.map(value => Math.exp(value - largest))
  const sum = exponentials.reduce((total, value) => total + value, 0)
  return exponentials.map(value => value / sum)
}

/** Probabilities of what may be drawn, renormalised, and the tokens that are kept. */
function plainly(values: readonly number[], { temperature = 1, topP = 1, topK = vocabulary, blocked = [] }: Options) {
  const left = values.map((value, token) => (blocked.includes(token) ? Number.NEGATIVE_INFINITY : value))
  if (temperature === 0) return { probabilities: left.map((_, token) => Number(token === ranked(left)[0])), kept: null }
  const probabilities = softmax(left.map(value => value / temperature))
  const first = ranked(probabilities).slice(0, topK)
  const massOfFirst = first.reduce((sum, token) => sum + probabilities[token]!, 0)
  const kept: number[] = []
  let before = 0
  for (const token of first) {
    if (before >= topP * massOfFirst) break
    kept.push(token)
    before += probabilities[token]!
  }
  return {
    probabilities: probabilities.map((value, token) => (kept.includes(token) ? value / before : 0)),
    kept: kept.sort((a, b) => a - b),
  }
}

const cuts = {
  everything: fc.record({ topP: fc.constantFrom(1, 0.95, 0.7, 0.1), topK: fc.constantFrom(1, 2, 5, vocabulary) }),
  'top-k': fc.record({ topP: fc.constantFrom(1, 0.6), topK: fc.constantFrom(1, 2, 3) }),
}
// Halves, so that some are equal.
const logit = fc.integer({ min: -8, max: 8 }).map(value => value / 2)
const rowsOf = (name: keyof typeof variants) =>
  fc.record({
    values: fc.array(logit, { minLength: vocabulary, maxLength: vocabulary }),
    uniform: fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true }),
    options: fc
      .tuple(
        fc.record({ temperature: fc.constantFrom(0, 0.3, 1, 2.5), blocked: fc.subarray([0, 3, 6]) }),
        fc.oneof(fc.constant({}), cuts[name]),
      )
      .map(([changed, filtered]): Options => ({ ...changed, ...filtered })),
  })

it.each(['everything', 'top-k'] as const)('is what is written plainly: %s', async name => {
  const variant = variants[name]
  await fc.assert(
    fc.asyncProperty(fc.array(rowsOf(name), { minLength: rows, maxLength: rows }), async batch => {
      const requests = batch.map(({ options }) => request(options))
      const results = await programs.get(name)!.run({
        logits: Float32Array.from(batch.flatMap(({ values }) => values)),
        uniform: Float64Array.from(batch, ({ uniform }) => uniform),
        ...choiceFeeds(requests, variant, 0, vocabulary),
      })
      for (const [index, { values, uniform, options }] of batch.entries()) {
        const { probabilities, kept } = plainly(values, options)
        const token = results['token']![index]!
        expect(probabilities[token]).toBeGreaterThan(0)
        // The token's part of the interval holds the number, up to rounding.
        const below = probabilities.slice(0, token).reduce((sum, value) => sum + value, 0)
        if (options.temperature !== 0) {
          expect(uniform).toBeGreaterThan(below - 1e-6)
          expect(uniform).toBeLessThan(below + probabilities[token]! + 1e-6)
          const support = results['support']!.subarray(index * vocabulary, (index + 1) * vocabulary)
          // Where the last token kept is at its bound, rounding decides.
          const size = [...support].filter(Boolean).length
          const others = plainly(values, { ...options, topP: Math.min(1, (options.topP ?? 1) + 1e-6) }).kept!.length
          if (!filters(requests[index]!)) expect(size).toBe(vocabulary)
          else if (kept!.length === others)
            expect([...support.entries()].flatMap(([t, on]) => (on ? [t] : []))).toEqual(kept)
          else expect([kept!.length, others]).toContain(size)
          if (kept!.length === others)
            expect(results['drawnLogProbability']![index]).toBeCloseTo(Math.log(probabilities[token]!), 5)
        } else expect(results['drawnLogProbability']![index]).toBe(0)
        const own = softmax(values)
        expect(results['logProbability']![index]).toBeCloseTo(Math.log(own[token]!), 5)
        const top = [...results['topTokens']!.subarray(index * 3, index * 3 + 3)]
        expect(top).toEqual(ranked(values).slice(0, 3))
        for (const [rank, best] of top.entries())
          expect(results['topLogProbabilities']![index * 3 + rank]).toBeCloseTo(Math.log(own[best]!), 5)
      }
    }),
    { numRuns: 40 },
  )
})
