/**
 * What an encoder with a window reads, and that a memory that is asked by the history knows what lies before it.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { Graph } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { encoderDecoder } from './encoder-decoder.ts'
import { lastTokens } from './encoder-window.ts'
import type { MemoryConfiguration } from './memory-configuration.ts'

it('is the end of each row, or all of a row that is shorter', async () => {
  const [rows, positions, window] = [3, 7, 4]
  const graph = new Graph()
  const encoder = {
    positions,
    tokens: graph.indices('tokens', [rows * positions], 9),
    lengths: graph.indices('lengths', [rows], positions + 1),
  }
  const last = lastTokens(encoder, window)
  const program = await compile({ tokens: last.tokens, lengths: last.lengths })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: positions }), {
        minLength: rows,
        maxLength: rows,
      }),
      async texts => {
        const padded = texts.flatMap(text => [...text, ...new Array<number>(positions - text.length).fill(0)])
        const lengths = Int32Array.from(texts, text => text.length)
        const result = await program.run({ tokens: Int32Array.from(padded), lengths })
        for (const [row, text] of texts.entries()) {
          const length = Number(result['lengths']![row])
          expect(length).toBe(Math.min(text.length, window))
          const read = Array.from({ length: window }, (_, place) => result['tokens']![row * window + place]!)
          expect(read).toEqual([...text.slice(-window), 0, 0, 0, 0].slice(0, window))
        }
      },
    ),
    { numRuns: 20 },
  )
  await program.dispose()
  expect(lastTokens(encoder, positions)).toBe(encoder)
})

it('what lies before it reaches the decoder by the memory alone', async () => {
  const engine = createEmbeddedEngine()
  const shape = {
    vocabulary: 7,
    contextLength: 4,
    depth: 1,
    encoderDepth: 1,
    encoderContextLength: 9,
    encoderWindow: 3,
    width: 8,
    heads: 2,
    activation: 'gelu',
    tiedEmbeddings: true,
    sharedEmbeddings: true,
  } as const
  const memory: MemoryConfiguration = { slots: 8, chosen: 2, query: 'history', block: 0 }
  const histories = [
    [1, 2, 3, 4, 5, 6, 1],
    [2, 1, 4, 3, 5, 6, 1],
    [5, 6, 1],
  ]
  const data = histories.map(history => ({
    input: { tokens: Int32Array.of(1, 2), encoderTokens: Int32Array.from(history) },
    targets: 'vocabulary' as const,
    weights: new Float32Array(14).fill(1),
  }))
  const distances = async (trained: Awaited<ReturnType<typeof engine.createTrainer>>) => {
    const { logProbabilities } = await trained.forward(data, { kind: 'cross_entropy' })
    const [first, ...others] = logProbabilities
    return others.map(other => Math.max(...other.map((value, index) => Math.abs(value - first![index]!))))
  }
  const without = await engine.createTrainer({ model: encoderDecoder(shape), seed: 1 })
  for (const distance of await distances(without)) expect(distance).toBeLessThan(1e-6)
  const trainer = await engine.createTrainer({ model: encoderDecoder({ ...shape, memory }), seed: 1 })
  for (const distance of await distances(trainer)) expect(distance).toBeLessThan(1e-6)
  const values = Float32Array.from({ length: 8 * 8 }, (_, index) => Math.sin(index))
  await trainer.setValues(new Map([['memory.values', values]]))
  for (const distance of await distances(trainer)) expect(distance).toBeGreaterThan(1e-3)
  await engine.dispose()
})
