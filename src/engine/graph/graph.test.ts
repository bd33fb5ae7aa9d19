/**
 * What the builder refuses and with which words, what it merges, and what a program checks at each run.
 */
import { expect, it } from 'vitest'
import { add, multiply, scale } from '../algebra/arithmetic.ts'
import { concatenate, reshape, slice, transpose } from '../algebra/arrangement.ts'
import { attention } from '../algebra/attention.ts'
import { exp, sign, square } from '../algebra/functions.ts'
import { lookUpRows, pick } from '../algebra/lookup.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { total } from '../algebra/reduction.ts'
import { worstDerivativeError } from './derivative-check.ts'
import { gradientsOf } from './gradients.ts'
import { Graph } from './graph.ts'
import { compile } from './program.ts'

it('names the tensors and their shapes where they do not fit', () => {
  const graph = new Graph()
  const hidden = graph.input('hidden', [6, 4])
  const query = graph.within('block', () => scale(graph.input('query', [5, 3]), 2))
  expect(() => matrixProduct(hidden, query)).toThrow('hidden (6, 4) does not fit block/Mul (5, 3): inner sizes 4 and 5')
  expect(() => add(hidden, query)).toThrow('hidden (6, 4) and block/Mul (5, 3) do not broadcast')
  expect(() => reshape(hidden, [5, 5])).toThrow('hidden (6, 4) has 24 elements')
  expect(() => transpose(hidden, [0, 0])).toThrow('(0, 0) is not an order of the axes of hidden (6, 4)')
  expect(() => slice(hidden, 1, 2, 3)).toThrow('hidden (6, 4) has no entries 2 to 4 on axis 1')
  expect(() => slice(hidden, 2, 0, 1)).toThrow('axis 2 is not one of a tensor of shape (6, 4)')
  expect(() => concatenate([hidden, query], 0)).toThrow('block/Mul (5, 3) does not fit hidden (6, 4) along axis 0')
  expect(() => attention(hidden, hidden, hidden, { mask: hidden, reference: 'own' })).toThrow(
    'hidden (6, 4) needs four axes',
  )
  expect(() => graph.input('hidden', [1])).toThrow('already one called hidden')
  expect(() => add(hidden, new Graph().input('elsewhere', [4]))).toThrow('elsewhere belongs to another graph')
  expect(() => graph.input('empty', [3, 0])).toThrow('empty: shape (3, 0) has a size that is not positive')
})

it('refuses index inputs that could leave the table, and indices that are none', () => {
  const graph = new Graph()
  const table = graph.input('table', [5, 3])
  expect(() => lookUpRows(table, graph.indices('wide', [2], 6))).toThrow('wide (2) may hold 5, but there are only 5')
  expect(() => lookUpRows(table, graph.input('floats', [2]))).toThrow('floats (2) is not a list of indices')
  expect(() => pick(table, graph.indices('short', [4], 3))).toThrow('table (5, 3) needs one index a row, not (4)')
})

it('checks indices at each run: a negative one would count from the end', async () => {
  const graph = new Graph()
  const rows = lookUpRows(graph.input('table', [3, 2]), graph.indices('tokens', [2], 3))
  const program = await compile({ rows })
  const table = Float32Array.of(1, 2, 3, 4, 5, 6)
  expect([...(await program.run({ table, tokens: Int32Array.of(2, 0) }))['rows']!]).toEqual([5, 6, 1, 2])
  await expect(program.run({ table, tokens: Int32Array.of(0, -1) })).rejects.toThrow(
    'tokens[1] is -1, expected a whole number from 0 to 2',
  )
  await expect(program.run({ table, tokens: Int32Array.of(3, 0) })).rejects.toThrow('tokens[0] is 3')
  await expect(program.run({ table })).rejects.toThrow('the input tokens is missing')
  await expect(program.run({ table: table.subarray(1), tokens: Int32Array.of(0, 0) })).rejects.toThrow(
    'the input table has 5 values, expected 6 for (3, 2)',
  )
  await expect(program.run({ table: Float64Array.from(table), tokens: Int32Array.of(0, 0) })).rejects.toThrow(
    'the input table is a Float64Array, expected a Float32Array',
  )
  await program.dispose()
})

it('notices an operation that declares a wrong shape, which the runtime accepts', async () => {
  const graph = new Graph()
  const a = graph.input('a', [2, 3])
  const wrong = graph.operation({ operation: 'Transpose', attributes: { perm: [1, 0] }, inputs: [a], shape: [2, 3] })
  const program = await compile({ wrong })
  await expect(program.run({ a: new Float32Array(6) })).rejects.toThrow('wrong came out as (3, 2), declared (2, 3)')
})

it('a check of derivatives notices it too, in the middle of a graph where the result would be spread', async () => {
  const check = worstDerivativeError({
    inputs: { a: { shape: [2, 3], values: new Float64Array(6) } },
    build: (graph, { a }) =>
      exp(
        graph.operation({
          operation: 'ReduceSum',
          inputs: [a!, graph.constant([1], [1], 'int64')],
          shape: [2, 3],
          derivative: gradient => [gradient, null],
        }),
      ),
  })
  await expect(check).rejects.toThrow(/operation \d+, ReduceSum, came out as \(2, 1\), declared \(2, 3\)/)
})

it('makes the same operation on the same inputs once', () => {
  const graph = new Graph()
  const a = graph.input('a', [2])
  expect(exp(a)).toBe(exp(a))
  expect(scale(a, 2)).toBe(scale(a, 2))
  expect(scale(a, 2)).not.toBe(scale(a, 3))
})

it('computes only what the outputs need, and outputs that are equal, constant or inputs', async () => {
  const graph = new Graph()
  const a = graph.input('a', [2])
  exp(graph.input('unused', [7]))
  const program = await compile({ a, twice: scale(a, 2), again: scale(a, 2), three: graph.scalar(3) })
  const result = await program.run({ a: Float32Array.of(1, 2) })
  expect(program.operationCount).toBe(1)
  expect(Object.values(result).map(array => [...array])).toEqual([[1, 2], [2, 4], [2, 4], [3]])
})

it('differentiates: zeros for what does not matter, a sentence for what cannot be', async () => {
  const graph = new Graph('float64')
  const a = graph.input('a', [2])
  const other = graph.input('other', [3])
  const scalar = total(multiply(square(a), sign(a)))
  const [byA, byOther] = gradientsOf(scalar, [a, other])
  const program = await compile({ byA: byA!, byOther: byOther! })
  const result = await program.run({ a: Float64Array.of(-3, 2) })
  expect([...result['byA']!]).toEqual([6, 4])
  expect([...result['byOther']!]).toEqual([0, 0, 0])
  expect(() => gradientsOf(a, [a])).toThrow('a (2) is not a scalar')
  const opaque = graph.operation({ operation: 'Abs', inputs: [a], shape: [2] })
  expect(() => gradientsOf(total(opaque), [a])).toThrow('Abs (2) has no derivative')
  const forgotten = graph.operation({ operation: 'Neg', inputs: [a], shape: [2], derivative: () => [] })
  expect(() => gradientsOf(total(forgotten), [a])).toThrow(
    'the derivative of Neg (2) gave 0 gradients: expected one for each of 1 inputs',
  )
})
