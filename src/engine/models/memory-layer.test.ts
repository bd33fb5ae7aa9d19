/**
 * The memory by itself: against plain loops over all slots, its derivative, and which slots a gradient reaches.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { multiply } from '../algebra/arithmetic.ts'
import { square } from '../algebra/functions.ts'
import { total } from '../algebra/reduction.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { gradientsOf } from '../graph/gradients.ts'
import { Graph, type Precision } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { sizeOf } from '../graph/shape.ts'
import { type MemoryConfiguration, memoryParameters, memoryProblems } from './memory-configuration.ts'
import { memoryLayer } from './memory-layer.ts'

const width = 6

function drawn(memory: MemoryConfiguration, queries: number, seed: number | string) {
  const random = seededRandom(seed)
  const draw = (shape: readonly number[]) => ({
    shape,
    values: Float64Array.from({ length: sizeOf(shape) }, () => random.normal()),
  })
  const parameters = memoryParameters(memory, width).map(({ name, shape }) => [name, draw(shape)] as const)
  return { queries: draw([queries, width]), ...Object.fromEntries(parameters) }
}

/** The memory's answer, and the gradients of the sum of `factors` × what it adds. */
async function compileMemory(memory: MemoryConfiguration, queries: number, precision: Precision = 'float64') {
  const graph = new Graph(precision)
  const shapes = memoryParameters(memory, width).map(({ name, shape }) => [name, shape] as const)
  const parameters = new Map(shapes.map(([name, shape]) => [name, graph.input(name, shape)]))
  const answer = memoryLayer(memory, parameters, graph.input('queries', [queries, width]))
  const objective = total(multiply(answer.added, graph.input('factors', [queries, width])))
  const gradients = gradientsOf(objective, [...parameters.values()])
  const named = [...parameters.keys()].map((name, index) => [`gradient.${name}`, gradients[index]!] as const)
  return compile({ ...answer, ...Object.fromEntries(named) }, { threads: 2 })
}

const valuesOf = (inputs: ReturnType<typeof drawn>): Record<string, Float64Array> =>
  Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.values]))

const ones = (size: number) => new Float64Array(size).fill(1)
const rowOf = (table: ArrayLike<number>, row: number, size = width) =>
  Array.from({ length: size }, (_, index) => table[row * size + index]!)
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, index) => sum + value * b[index]!, 0)

/** The key of every slot, whole. */
function allKeys({ slots, productKeys }: MemoryConfiguration, values: Record<string, Float64Array>): number[][] {
  const side = Math.sqrt(slots)
  return Array.from({ length: slots }, (_, slot) => {
    if (!productKeys) return rowOf(values['memory.keys']!, slot)
    const first = rowOf(values['memory.firstKeys']!, Math.floor(slot / side), width / 2)
    return [...first, ...rowOf(values['memory.secondKeys']!, slot % side, width / 2)]
  })
}

describe('the answer is that of all slots compared one by one', () => {
  it.each<MemoryConfiguration>([
    { slots: 10, chosen: 3 },
    { slots: 7, chosen: 7 },
    { slots: 9, chosen: 2, productKeys: true },
    { slots: 25, chosen: 8, productKeys: true },
    { slots: 16, chosen: 16, productKeys: true },
  ])('%j', async memory => {
    const queries = 4
    const program = await compileMemory(memory, queries)
    await fc.assert(
      fc.asyncProperty(fc.integer(), async seed => {
        const values = valuesOf(drawn(memory, queries, seed))
        const result = await program.run({ ...values, factors: ones(queries * width) })
        const keys = allKeys(memory, values)
        for (let query = 0; query < queries; query++) {
          const scores = keys.map(key => dot(rowOf(values['queries']!, query), key))
          const order = scores.map((_, slot) => slot).sort((a, b) => scores[b]! - scores[a]!)
          const best = order.slice(0, memory.chosen)
          expect(rowOf(result['slots']!, query, memory.chosen)).toEqual(best)
          const exponentials = best.map(slot => Math.exp(scores[slot]! - scores[best[0]!]!))
          const sum = exponentials.reduce((a, b) => a + b)
          for (const [place, weight] of rowOf(result['weights']!, query, memory.chosen).entries())
            expect(weight).toBeCloseTo(exponentials[place]! / sum, 12)
          for (const [channel, added] of rowOf(result['added']!, query).entries()) {
            const expected = best.map(slot => values['memory.values']![slot * width + channel]!)
            expect(added).toBeCloseTo(dot(exponentials, expected) / sum, 12)
          }
        }
      }),
      { numRuns: 15 },
    )
    await program.dispose()
  })
})

it.each<MemoryConfiguration>([
  { slots: 10, chosen: 3 },
  { slots: 300, chosen: 3 },
  { slots: 25, chosen: 4, productKeys: true },
])('gradients agree with finite differences: %j', async memory => {
  const error = await worstDerivativeError({
    inputs: drawn(memory, 5, 'derivative'),
    build: (_, { queries, ...parameters }) =>
      square(memoryLayer(memory, new Map(Object.entries(parameters)), queries!).added),
    elements: 24,
  })
  expect(error).toBeLessThan(1e-6)
})

it.each([20, 400])('of %i slots a gradient reaches those that were chosen, and no other at all', async slots => {
  const memory = { slots, chosen: 3 }
  const program = await compileMemory(memory, 2, 'float32')
  const values = valuesOf(drawn(memory, 2, 'two users'))
  // Two users that ask for opposite things.
  for (let channel = 0; channel < width; channel++) values['queries']![width + channel] = -values['queries']![channel]!
  const singles = Object.fromEntries(Object.entries(values).map(([name, array]) => [name, Float32Array.from(array)]))
  const factors = (user: number) =>
    Float32Array.from({ length: 2 * width }, (_, i) => (Number(i >= width) === user ? 1 + i : 0))
  const results = [
    await program.run({ ...singles, factors: factors(0) }),
    await program.run({ ...singles, factors: factors(1) }),
  ]
  const chosen = [0, 1].map(user => new Set(rowOf(results[user]!['slots']!, user, 3)))
  expect(chosen[0]!.intersection(chosen[1]!).size).toBe(0)
  for (const user of [0, 1])
    for (const table of ['keys', 'values'])
      for (let slot = 0; slot < slots; slot++) {
        const gradient = rowOf(results[user]![`gradient.memory.${table}`]!, slot)
        if (chosen[user]!.has(slot)) expect(Math.max(...gradient.map(Math.abs))).toBeGreaterThan(1e-3)
        else expect(gradient.every(value => value === 0)).toBe(true)
      }
  const flat = results.map(result => rowOf(result['gradient.memory.values']!, 0, slots * width))
  expect(dot(flat[0]!, flat[1]!)).toBe(0)
  expect(dot(flat[0]!, flat[0]!)).toBeGreaterThan(1)
  await program.dispose()
})

it.each<readonly [MemoryConfiguration, string]>([
  [
    { slots: 0, chosen: 1.5 },
    'memory.slots is 0: expected a positive whole number; memory.chosen is 1.5: expected a positive whole number',
  ],
  [{ slots: 4, chosen: 5 }, 'memory.chosen is 5: expected at most slots, which is 4'],
  [
    { slots: 8, chosen: 2, productKeys: true },
    'memory.slots is 8: expected a square number with product keys; ' +
      'memory.productKeys is true: expected false where the width is odd, and it is 5',
  ],
  [{ slots: 8, chosen: 2, block: 3 }, 'memory.block is 3: expected a whole number from 0 to depth, 2'],
  [{ slots: 8, chosen: 2, query: 'past' as 'state' }, 'memory.query is "past": expected "state" or "history"'],
])('%j is refused', (memory, sentences) => {
  expect(memoryProblems(memory, 5, 2).join('; ')).toBe(sentences)
})
