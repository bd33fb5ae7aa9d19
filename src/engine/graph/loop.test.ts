/**
 * Loops: what is carried and collected, how they end, what is computed once outside, and what is refused.
 */
import { expect, it } from 'vitest'
import { add, multiply } from '../algebra/arithmetic.ts'
import { integers } from '../algebra/arrangement.ts'
import { exp } from '../algebra/functions.ts'
import { total } from '../algebra/reduction.ts'
import { gradientsOf } from './gradients.ts'
import { Graph, type Tensor } from './graph.ts'
import { loop } from './loop.ts'
import { onnxModel } from './onnx.ts'
import { compile } from './program.ts'

function isBelow(a: Tensor, b: Tensor): Tensor {
  return a.graph.operation({ operation: 'Less', inputs: [a, b], shape: [], type: 'bool' })
}

it('multiplies until a bound is passed or the iterations are over, and collects what it passed', async () => {
  const graph = new Graph()
  const factor = graph.input('factor', [])
  const { carried, collected } = loop(graph, {
    iterations: graph.input('iterations', [1], 'int32'),
    mostIterations: 10,
    initial: { product: graph.input('start', []), unchanged: graph.scalar(7) },
    body(_, { product, unchanged }) {
      const next = multiply(product!, factor)
      return {
        proceed: isBelow(next, graph.scalar(100)),
        carried: { product: next, unchanged: unchanged! },
        collected: { next, before: product! },
      }
    },
  })
  const program = await compile({
    last: carried['product']!,
    unchanged: carried['unchanged']!,
    next: collected['next']!,
    before: collected['before']!,
  })
  const run = async (iterations: number) => {
    const start = Float32Array.of(1)
    const results = await program.run({ factor: Float32Array.of(3), start, iterations: Int32Array.of(iterations) })
    return Object.fromEntries(Object.entries(results).map(([name, values]) => [name, [...values]]))
  }
  expect(await run(3)).toEqual({ last: [27], next: [3, 9, 27], before: [1, 3, 9], unchanged: [7] })
  expect(await run(10)).toEqual({ last: [243], next: [3, 9, 27, 81, 243], before: [1, 3, 9, 27, 81], unchanged: [7] })
  await program.dispose()
})

it('has only what changes inside, also of constants and parameters that only the body needs', async () => {
  const graph = new Graph()
  const weight = graph.input('weight', [2])
  const build = (inside: (value: Tensor) => Tensor) =>
    loop(graph, {
      iterations: graph.constant([4], [1], 'int32'),
      mostIterations: 4,
      initial: { value: graph.constant([0, 0], [2]) },
      body: (_, { value }) => ({
        proceed: graph.constant([1], [], 'bool'),
        carried: { value: inside(value!) },
        collected: {},
      }),
    }).carried['value']!
  const program = await compile({
    value: build(value => add(value, multiply(exp(weight), graph.constant([1, 2], [2])))),
  })
  const { value } = await program.run({ weight: Float32Array.of(0, Math.log(3)) })
  expect(value![0]).toBeCloseTo(4, 6)
  expect(value![1]).toBeCloseTo(24, 5)
  // Add is alone in the body; Exp, Mul, the iterations' Cast and the loop are outside.
  expect(program.operationCount).toBe(5)
  await program.dispose()
})

it('computes both outputs of one operator in one node, inside and outside of loops', async () => {
  const graph = new Graph()
  const values = graph.input('values', [1, 4])
  const top = (output: number) =>
    graph.operation({
      operation: 'TopK',
      attributes: { axis: 1 },
      output,
      inputs: [values, integers(graph, [2])],
      shape: [1, 2],
      type: output === 0 ? 'float32' : 'int64',
    })
  const asFloats = graph.operation({ operation: 'Cast', attributes: { to: 1 }, inputs: [top(1)], shape: [1, 2] })
  const program = await compile({ largest: top(0), indices: asFloats })
  expect(program.operationCount).toBe(2)
  const result = await program.run({ values: Float32Array.of(3, 9, 1, 7) })
  expect([...result['largest']!, ...result['indices']!]).toEqual([9, 7, 1, 3])
  await program.dispose()
})

it('refuses bodies that do not fit, and what leaves or differentiates a loop', () => {
  const graph = new Graph()
  const iterations = graph.input('iterations', [1], 'int32')
  const start = graph.input('start', [3])
  let inner: Tensor | null = null
  const build = (next: (value: Tensor) => Tensor, name = 'value') =>
    loop(graph, {
      iterations,
      mostIterations: 5,
      initial: { value: start },
      body(_, { value }) {
        inner = exp(value!)
        return {
          proceed: graph.constant([1], [], 'bool'),
          carried: { [name]: next(value!) },
          collected: { value: value! },
        }
      },
    })
  expect(() => build(value => total(value))).toThrow('loop: value: Reshape () should have shape (3)')
  expect(() => build(value => value, 'other')).toThrow('loop: the body carries no value on')
  expect(() =>
    loop(graph, {
      iterations,
      mostIterations: 1,
      initial: {},
      body: () => ({ proceed: start, carried: {}, collected: {} }),
    }),
  ).toThrow('loop: nothing is carried')
  const { carried, collected } = build(exp)
  expect(() => exp(collected['value']!)).toThrow('value (5, 3) has as many entries as the loop had iterations')
  expect(() => onnxModel(new Map([['inner', inner!]]))).toThrow('value (3) has no value outside of its loop')
  expect(() => gradientsOf(total(carried['value']!), [start])).toThrow('Exp (3) has no derivative')
})
