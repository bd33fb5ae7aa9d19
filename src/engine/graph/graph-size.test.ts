/** Measures of graphs whose sizes can be counted by hand. */
import { expect, it } from 'vitest'
import { add } from '../algebra/arithmetic.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { Graph } from './graph.ts'
import { multiplicationsPerOperation, numbersComputed } from './graph-size.ts'
import { loop } from './loop.ts'

it('counts operations, those of a loop once', () => {
  const graph = new Graph()
  const a = graph.input('a', [5, 3])
  const b = graph.input('b', [7, 3])
  const product = matrixProduct(a, b, { transposeB: true })
  const sum = add(product, product)
  expect(numbersComputed([sum])).toBe(35 + 35)
  expect(multiplicationsPerOperation([sum])).toBe((5 * 3 * 7) / 2)
  const stack = matrixProduct(graph.input('c', [2, 4, 5]), graph.input('d', [2, 4, 6]), { transposeA: true })
  expect(multiplicationsPerOperation([stack])).toBe(2 * 5 * 4 * 6)
  expect(multiplicationsPerOperation([a])).toBe(0)

  const square = graph.input('square', [5, 5])
  const { carried } = loop(graph, {
    iterations: graph.input('iterations', [1], 'int32'),
    mostIterations: 9,
    initial: { value: square },
    body: (_, { value }) => ({
      proceed: graph.constant([1], [], 'bool'),
      carried: { value: matrixProduct(value!, square) },
      collected: {},
    }),
  })
  // The count of iterations as the loop wants it, the loop, and the product in it.
  expect(multiplicationsPerOperation([carried['value']!])).toBe(5 ** 3 / 3)
})
