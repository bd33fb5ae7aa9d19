/**
 * Attention against plain loops, with masks of every kind, biases and keys of other positions; its derivative; and the
 * norms, slopes and angles that surround it.
 */
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { sizeOf } from '../graph/shape.ts'
import { alibiBias, alibiSlopes } from './alibi.ts'
import { type AttentionOptions, attention } from './attention.ts'
import { blockCausal, blockDiffusion, both, causal, real, visible } from './attention-mask.ts'
import { square } from './functions.ts'
import { layerNorm } from './layer-norm.ts'
import { rootMeanSquareNorm } from './root-mean-square.ts'
import { rotary, rotaryFrequencies } from './rotary.ts'

const range = (size: number) => Array.from({ length: size }, (_, index) => index)
const rows = 2
const lengths = [3, 5]
const channels = 2

interface Case {
  readonly name: string
  readonly heads: number
  readonly keyValueHeads: number
  readonly queries: number
  readonly keys: number
  readonly options: (graph: Graph, lengths: Tensor) => AttentionOptions
  readonly sees: (row: number, query: number, key: number) => boolean
  readonly bias?: (head: number, query: number, key: number) => number
}

const cases: readonly Case[] = [
  {
    name: 'causal, with ALiBi on three heads',
    heads: 3,
    keyValueHeads: 3,
    queries: 5,
    keys: 5,
    options: graph => ({
      mask: visible(graph, causal(5)),
      bias: alibiBias(graph, 3, range(5), range(5)),
      reference: 'own',
    }),
    sees: (_, query, key) => key <= query,
    bias: (head, query, key) => -[1 / 16, 1 / 256, 1 / 4][head]! * Math.abs(query - key),
  },
  {
    name: 'bidirectional up to the lengths, shared keys',
    heads: 4,
    keyValueHeads: 2,
    queries: 5,
    keys: 5,
    options: (_, lengths) => ({ mask: real(lengths, 5), reference: 'own' }),
    sees: (row, _, key) => key < lengths[row]!,
  },
  {
    name: 'block-causal in blocks of two, up to the lengths, with ALiBi',
    heads: 2,
    keyValueHeads: 1,
    queries: 5,
    keys: 5,
    options: (graph, lengths) => ({
      mask: both(visible(graph, blockCausal(5, 2)), real(lengths, 5)),
      bias: alibiBias(graph, 2, range(5), range(5)),
      reference: 'own',
    }),
    sees: (row, query, key) => Math.floor(key / 2) <= Math.floor(query / 2) && key < lengths[row]!,
    bias: (head, query, key) => -[1 / 16, 1 / 256][head]! * Math.abs(query - key),
  },
  {
    name: 'keys of another text, up to the lengths',
    heads: 2,
    keyValueHeads: 2,
    queries: 3,
    keys: 5,
    options: (_, lengths) => ({ mask: real(lengths, 5), reference: 'first' }),
    sees: (row, _, key) => key < lengths[row]!,
  },
]

const shapesOf = ({ heads, keyValueHeads, queries, keys }: Case) => ({
  q: [rows, heads, queries, channels],
  k: [rows, keyValueHeads, keys, channels],
  v: [rows, keyValueHeads, keys, channels],
})

function randomValues(shapes: Readonly<Record<string, readonly number[]>>) {
  const random = seededRandom('attention')
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [
      name,
      { shape, values: Float64Array.from({ length: sizeOf(shape) }, () => random.normal()) },
    ]),
  )
}

/** Rows whose query is real: what padding takes from anything is nobody's business. */
function byLoops(testCase: Case, values: ReturnType<typeof randomValues>): (number | null)[] {
  const { heads, keyValueHeads, queries, keys, sees, bias } = testCase
  const at = (name: string, ...[row, head, position, channel]: number[]) => {
    const [, ofHeads, positions] = values[name]!.shape as [number, number, number]
    return values[name]!.values[((row! * ofHeads + head!) * positions + position!) * channels + channel!]!
  }
  return range(rows * heads * queries * channels).map(index => {
    const channel = index % channels
    const query = Math.floor(index / channels) % queries
    const head = Math.floor(index / channels / queries) % heads
    const row = Math.floor(index / channels / queries / heads)
    const shared = Math.floor(head / (heads / keyValueHeads))
    if (queries === keys && !sees(row, query, query)) return null
    const weights = range(keys).map(key => {
      if (!sees(row, query, key)) return 0
      const product = at('q', row, head, query, 0) * at('k', row, shared, key, 0)
      const other = at('q', row, head, query, 1) * at('k', row, shared, key, 1)
      return Math.exp((product + other) / Math.sqrt(channels) + (bias?.(head, query, key) ?? 0))
    })
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    return weights.reduce((sum, weight, key) => sum + (weight / total) * at('v', row, shared, key, channel), 0)
  })
}

describe('attention', () => {
  it.each(cases)('$name: values of plain loops, derivative of finite differences', async testCase => {
    const shapes = shapesOf(testCase)
    const values = randomValues(shapes)
    const build = (graph: Graph, { q, k, v }: Readonly<Record<string, Tensor>>) =>
      attention(q!, k!, v!, testCase.options(graph, graph.indices('lengths', [rows], 6)))
    const graph = new Graph('float64')
    const inputs = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, graph.input(name, shape)]))
    const program = await compile({ result: build(graph, inputs) })
    const fixed = { lengths: Int32Array.from(lengths) }
    const arrays = Object.fromEntries(Object.entries(values).map(([name, input]) => [name, input.values]))
    const { result } = await program.run({ ...arrays, ...fixed })
    await program.dispose()
    byLoops(testCase, values).forEach((expected, index) => {
      if (expected !== null) expect(result![index]).toBeCloseTo(expected, 12)
    })
    expect(await worstDerivativeError({ inputs: values, fixed, build })).toBeLessThan(1e-6)
  })

  it('refuses heads that cannot share keys', () => {
    const graph = new Graph()
    const [queries, keys] = [graph.input('queries', [1, 3, 2, 4]), graph.input('keys', [1, 2, 2, 4])]
    const mask = visible(graph, causal(5))
    expect(() => attention(queries, keys, keys, { mask, reference: 'own' })).toThrow(
      '3 query heads cannot share 2 key-value heads evenly',
    )
  })
})

it('block diffusion: who sees whom, for three tokens in blocks of two', async () => {
  const graph = new Graph('float64')
  const one = graph.constant([1], [1, 1])
  const zero = graph.constant([0], [1, 1])
  const mask = visible(graph, blockDiffusion(6, 2))
  const numbers = graph.operation({ operation: 'Where', inputs: [mask, one, zero], shape: [1, 6, 6] })
  const program = await compile({ seen: numbers })
  const { seen } = await program.run({})
  await program.dispose()
  const lines = range(6).map(query => [...seen!.slice(6 * query, 6 * query + 6)].join(''))
  // Columns and lines: noisy 0, clean 0, noisy 1, clean 1, noisy 2, clean 2.
  expect(lines).toEqual(['101000', '010100', '101000', '010100', '010110', '010101'])
})

it.each([
  ['layerNorm', layerNorm],
  ['rootMeanSquareNorm', rootMeanSquareNorm],
] as const)('%s: its derivative with an epsilon that counts, its mean square', async (_, norm) => {
  const inputs = randomValues({ a: [3, 5] })
  const error = await worstDerivativeError({ inputs, build: (_, { a }) => square(norm(a!, 0.3)) })
  expect(error).toBeLessThan(1e-6)
  const graph = new Graph('float64')
  const program = await compile({ result: norm(graph.input('a', [3, 5]), 0.3) })
  const { result } = await program.run({ a: inputs['a']!.values })
  await program.dispose()
  for (const row of range(3)) {
    const given = [...inputs['a']!.values.slice(5 * row, 5 * row + 5)]
    const mean = norm === layerNorm ? given.reduce((sum, value) => sum + value, 0) / 5 : 0
    const variance = given.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 5
    for (const column of range(5))
      expect(result![5 * row + column]).toBeCloseTo((given[column]! - mean) / Math.sqrt(variance + 0.3), 12)
  }
})

it('slopes of ALiBi: those of the paper for 8 heads, and of its code for numbers between', () => {
  expect(alibiSlopes(8)).toEqual(range(8).map(head => 2 ** -(head + 1)))
  expect(alibiSlopes(1)).toEqual([2 ** -8])
  expect(alibiSlopes(6)).toEqual([2 ** -2, 2 ** -4, 2 ** -6, 2 ** -8, 2 ** -1, 2 ** -3])
})

describe('rotary', () => {
  it('stretches slow pairs as Llama 3 does, leaves fast ones, interpolates between', () => {
    const scaling = { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContextLength: 64 }
    const plain = rotaryFrequencies(16, { base: 500 })
    const scaled = rotaryFrequencies(16, { base: 500, scaling })
    plain.forEach((frequency, pair) => {
      const turns = (64 * frequency) / (2 * Math.PI)
      if (turns > 4) expect(scaled[pair]).toBeCloseTo(frequency, 14)
      else if (turns < 1) expect(scaled[pair]).toBeCloseTo(frequency / 8, 14)
      else expect(scaled[pair]! > frequency / 8 && scaled[pair]! < frequency).toBe(true)
    })
  })

  it.each(['float32', 'float64'] as const)('by ids is what it is by places, in %s', async precision => {
    const graph = new Graph(precision)
    const a = graph.input('a', [2, 3, 4, 6])
    const places = [2, 3, 5, 0]
    const ids = graph.indices('ids', [2, 4], 7)
    const program = await compile({ places: rotary(a, {}, places), ids: rotary(a, {}, { ids, below: 7 }) })
    const random = seededRandom('rotary')
    const drawn = range(144).map(() => random.normal())
    const values = precision === 'float32' ? Float32Array.from(drawn) : Float64Array.from(drawn)
    const results = await program.run({ a: values, ids: Int32Array.from([...places, ...places]) })
    await program.dispose()
    results['ids']!.forEach((value, index) => {
      expect(value).toBeCloseTo(results['places']![index]!, 6)
    })
  })

  it('by ids: its derivative', async () => {
    const error = await worstDerivativeError({
      inputs: randomValues({ a: [2, 2, 3, 4] }),
      fixed: { ids: Int32Array.of(0, 4, 2, 1, 1, 3) },
      build: (graph, { a }) => square(rotary(a!, { base: 30 }, { ids: graph.indices('ids', [2, 3], 5), below: 5 })),
    })
    expect(error).toBeLessThan(1e-6)
  })
})
