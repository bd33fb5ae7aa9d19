/**
 * Operations whose graphs differ between the precisions give the same values in both; and exact properties of values.
 */
import { expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { gradientsOf } from '../graph/gradients.ts'
import { Graph, type Precision, type Tensor } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { sizeOf } from '../graph/shape.ts'
import { multiply } from './arithmetic.ts'
import { attention } from './attention.ts'
import { causal, visible } from './attention-mask.ts'
import { matrixProduct } from './matrix-product.ts'
import { total } from './reduction.ts'
import { rotary } from './rotary.ts'

const shape = [2, 3, 5, 8]
const random = seededRandom('precision')
const draw = (size: number, scale = 1) => Float64Array.from({ length: size }, () => scale * random.normal())

const causalAttention = (queries: Tensor, keys: Tensor, values: Tensor) =>
  attention(queries, keys, values, { mask: visible(queries.graph, causal(queries.shape[2]!)), reference: 'own' })

/** A value and the gradients by a, b and c, all in one graph at one precision. */
async function evaluate(
  precision: Precision,
  build: (a: Tensor, b: Tensor, c: Tensor) => Tensor,
  values: Float64Array[],
) {
  const graph = new Graph(precision)
  const inputs = ['a', 'b', 'c'].map(name => graph.input(name, shape)) as [Tensor, Tensor, Tensor]
  const result = build(...inputs)
  const weights = graph.input('weights', result.shape)
  const gradients = gradientsOf(total(multiply(result, weights)), inputs)
  const program = await compile({ result, a: gradients[0]!, b: gradients[1]!, c: gradients[2]! })
  const feeds = { a: values[0]!, b: values[1]!, c: values[2]!, weights: values[3]!.subarray(0, sizeOf(result.shape)) }
  const cast = Object.entries(feeds).map(([name, array]) => [
    name,
    precision === 'float32' ? Float32Array.from(array) : array.slice(),
  ])
  return program.run(Object.fromEntries(cast))
}

it.each<readonly [string, (a: Tensor, b: Tensor, c: Tensor) => Tensor]>([
  ['rotary', (a, b, c) => multiply(rotary(a), multiply(b, c))],
  ['attention', causalAttention],
  ['products of stacks', (a, b, c) => matrixProduct(matrixProduct(a, b, { transposeB: true }), c)],
])('%s: single precision, fused by the runtime, agrees with double', async (_, build) => {
  const values = [draw(240), draw(240), draw(240), draw(1000)]
  const single = await evaluate('float32', build, values)
  const double = await evaluate('float64', build, values)
  for (const [name, array] of Object.entries(double)) {
    const largest = Math.max(...array.map(Math.abs))
    for (const [index, value] of array.entries())
      expect(Math.abs(single[name]![index]! - value) / largest, `${name}[${index}]`).toBeLessThan(2e-6)
  }
})

it('attention never looks ahead, however large the scores', async () => {
  for (const scale of [1, 30]) {
    const values = [draw(240, scale), draw(240, scale), draw(240), draw(1000)]
    const before = await evaluate('float32', causalAttention, values)
    const changed = values.map(array => array.slice())
    for (let head = 0; head < 6; head++)
      for (let channel = 0; channel < 8; channel++)
        for (const array of [changed[1]!, changed[2]!]) array[(head * 5 + 4) * 8 + channel]! = 50 * random.normal()
    const after = await evaluate('float32', causalAttention, changed)
    let largestAtLast = 0
    for (let index = 0; index < 240; index++) {
      const position = Math.floor(index / 8) % 5
      const difference = Math.abs(after['result']![index]! - before['result']![index]!)
      if (position < 4) expect(difference).toBeLessThan(1e-6)
      else largestAtLast = Math.max(largestAtLast, difference)
    }
    expect(largestAtLast).toBeGreaterThan(0.1)
  }
})
