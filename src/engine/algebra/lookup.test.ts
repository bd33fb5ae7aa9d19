/**
 * The gradient of looking up rows adds up all that fall on one row, on any number of threads. ScatterND, the obvious operator for
 * it, loses some of them when threads meet on a row.
 */
import { expect, it } from 'vitest'
import { gradientsOf } from '../graph/gradients.ts'
import { Graph } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { multiply } from './arithmetic.ts'
import { lookUpRows } from './lookup.ts'
import { total } from './reduction.ts'

it('no addition is lost where many positions hold the same token, on two threads', async () => {
  const [rows, width, count] = [3, 64, 8192]
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
  for (let time = 0; time < 60; time++) {
    const sums = (await program.run(feeds))['gradient']!
    expect([...new Set(sums.subarray(0, 2 * width))]).toEqual([count / 2])
    expect([...new Set(sums.subarray(2 * width))]).toEqual([0])
  }
  await program.dispose()
})
