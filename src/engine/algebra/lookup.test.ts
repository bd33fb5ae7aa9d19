/**
 * The gradient of looking up rows adds up all that fall on one row, on any number of threads. ScatterND, the obvious
 * operator for it, loses some of them when threads meet on a row.
 */
import { expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { gradientsOf } from '../graph/gradients.ts'
import { Graph } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { multiply } from './arithmetic.ts'
import { square } from './functions.ts'
import { addRows, lookUpRows } from './lookup.ts'
import { total } from './reduction.ts'

it.each([3, 400])('no addition is lost where many positions hold the same token of %i, on two threads', async rows => {
  const [width, count] = [64, 8192]
  const graph = new Graph()
  const table = graph.input('table', [rows, width])
  const looked = lookUpRows(table, graph.indices('tokens', [count], rows))
  const [gradient] = gradientsOf(total(multiply(looked, graph.input('factors', [count, width]))), [table])
  const program = await compile({ gradient: gradient! }, { threads: 2 })
  const feeds = {
    table: new Float32Array(rows * width),
    tokens: Int32Array.from({ length: count }, (_, index) => index % 2),
    factors: new Float32Array(count * width).fill(1),
  }
  for (let time = 0; time < 20; time++) {
    const sums = (await program.run(feeds))['gradient']!
    expect([...new Set(sums.subarray(0, 2 * width))]).toEqual([count / 2])
    expect([...new Set(sums.subarray(2 * width))]).toEqual([0])
  }
  await program.dispose()
})

it.each([5, 300])('in a table of %i rows looking up and adding are differentiated by each other', async rows => {
  const random = seededRandom(rows)
  const draw = (size: number) => Float64Array.from({ length: size }, () => random.normal())
  const error = await worstDerivativeError({
    inputs: { table: { shape: [rows, 2], values: draw(2 * rows) }, values: { shape: [4, 2], values: draw(8) } },
    fixed: { indices: Int32Array.of(2, 0, 2, 4) },
    build: (graph, { table, values }) => {
      const indices = graph.indices('indices', [4], 5)
      return multiply(square(lookUpRows(table!, indices)), lookUpRows(square(addRows(values!, indices, rows)), indices))
    },
    elements: 20,
  })
  expect(error).toBeLessThan(1e-6)
})
