/**
 * Every operation: its derivative against central finite differences in double precision, and its value against plain
 * loops where that is not obvious.
 */
import { expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { sizeOf } from '../graph/shape.ts'
import { crossEntropy } from '../losses/cross-entropy.ts'
import { tokenLogProbability } from '../losses/token-log-probability.ts'
import { gelu, reluSquared, softCap, swiglu } from './activation.ts'
import { add, divide, multiply, negate, scale, shift, subtract } from './arithmetic.ts'
import { concatenate, reshape, slice, split, transpose } from './arrangement.ts'
import { broadcastTo, sum } from './broadcast.ts'
import { exp, log, reciprocal, relu, sigmoid, sqrt, square, tanh } from './functions.ts'
import { lookUpRows, pick } from './lookup.ts'
import { matrixProduct } from './matrix-product.ts'
import { mean, total } from './reduction.ts'
import { rootMeanSquareNorm } from './root-mean-square.ts'
import { rotary } from './rotary.ts'
import { logSoftmax, logSumExp, softmax } from './softmax.ts'

type Shapes = Readonly<Record<string, readonly number[]>>
type Build = (inputs: Readonly<Record<string, Tensor>>, graph: Graph) => Tensor

function randomValues(shapes: Shapes, positive: boolean) {
  const random = seededRandom('derivatives')
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const draw = () => (positive ? 0.5 + random.uniform() : random.normal())
      return [name, { shape, values: Float64Array.from({ length: sizeOf(shape) }, draw) }]
    }),
  )
}

const matrices = { a: [3, 4], b: [3, 4] }
const indices = Int32Array.of(2, 0, 2, 4)

const cases: readonly (readonly [string, Shapes, Build, 'positive'?])[] = [
  ['add', matrices, ({ a, b }) => add(a!, b!)],
  ['add, broadcast', { a: [2, 3, 4], b: [3, 1] }, ({ a, b }) => add(a!, b!)],
  ['subtract', { a: [3, 4], b: [4] }, ({ a, b }) => subtract(a!, b!)],
  ['multiply', { a: [3, 1], b: [2, 1, 4] }, ({ a, b }) => multiply(a!, b!)],
  ['multiply by itself', { a: [3, 4] }, ({ a }) => multiply(a!, a!)],
  ['divide', { a: [3, 4], b: [3, 1] }, ({ a, b }) => divide(a!, b!), 'positive'],
  ['negate', { a: [3, 4] }, ({ a }) => negate(a!)],
  ['scale and shift', { a: [3, 4] }, ({ a }) => shift(scale(a!, -1.5), 2)],
  ['exp', { a: [3, 4] }, ({ a }) => exp(a!)],
  ['log', { a: [3, 4] }, ({ a }) => log(a!), 'positive'],
  ['sqrt', { a: [3, 4] }, ({ a }) => sqrt(a!), 'positive'],
  ['reciprocal', { a: [3, 4] }, ({ a }) => reciprocal(a!), 'positive'],
  ['square', { a: [3, 4] }, ({ a }) => square(a!)],
  ['tanh', { a: [3, 4] }, ({ a }) => tanh(a!)],
  ['sigmoid', { a: [3, 4] }, ({ a }) => sigmoid(a!)],
  ['relu', { a: [3, 4] }, ({ a }) => relu(a!)],
  ['reshape', { a: [3, 4] }, ({ a }) => square(reshape(a!, [2, 6]))],
  ['transpose', { a: [2, 3, 4] }, ({ a }) => square(transpose(a!, [2, 0, 1]))],
  ['slice', { a: [3, 5] }, ({ a }) => square(slice(a!, 1, 1, 3))],
  [
    'slices that overlap',
    { a: [3, 5] },
    ({ a }) => add(square(slice(a!, 1, 1, 3)), exp(add(slice(a!, 1, 2, 3), slice(a!, 1, 0, 3)))),
  ],
  ['slices on two axes', { a: [3, 3] }, ({ a }) => multiply(slice(a!, 0, 1, 1), slice(a!, 1, 2, 1))],
  ['a slice and the whole', { a: [3, 3] }, ({ a }) => multiply(slice(a!, 0, 1, 1), exp(a!))],
  [
    'split',
    { a: [3, 6] },
    ({ a }) => {
      const [first, second, third] = split(a!, 1, [2, 2, 2])
      return add(multiply(first!, second!), exp(third!))
    },
  ],
  ['concatenate', { a: [2, 3], b: [2, 1] }, ({ a, b }) => square(concatenate([a!, b!, a!], 1))],
  ['broadcastTo', { a: [3, 1] }, ({ a }) => square(broadcastTo(a!, [2, 3, 4]))],
  ['sum', { a: [2, 3, 4] }, ({ a }) => square(sum(a!, [0, -1]))],
  ['mean', { a: [2, 3, 4] }, ({ a }) => square(mean(a!, [1]))],
  ['total', { a: [3, 4] }, ({ a }) => square(total(a!))],
  ['softmax', { a: [3, 4] }, ({ a }) => softmax(a!)],
  ['logSoftmax', { a: [3, 4] }, ({ a }) => logSoftmax(a!)],
  ['logSumExp', { a: [3, 4] }, ({ a }) => logSumExp(a!)],
  ['gelu', { a: [3, 4] }, ({ a }) => gelu(a!)],
  ['reluSquared', { a: [3, 4] }, ({ a }) => reluSquared(a!)],
  ['swiglu', matrices, ({ a, b }) => swiglu(a!, b!)],
  ['softCap', { a: [3, 4] }, ({ a }) => softCap(a!, 0.8)],
  ['rootMeanSquareNorm', { a: [3, 4] }, ({ a }) => rootMeanSquareNorm(a!)],
  ['rotary', { a: [2, 3, 4] }, ({ a }) => square(rotary(a!))],
  ['lookUpRows', { a: [5, 3] }, ({ a }, graph) => square(lookUpRows(a!, graph.indices('indices', [4], 5)))],
  ['pick', { a: [4, 5] }, ({ a }, graph) => square(pick(a!, graph.indices('indices', [4], 5)))],
  [
    'tokenLogProbability',
    { a: [4, 5] },
    ({ a }, graph) => square(tokenLogProbability(a!, graph.indices('indices', [4], 5))),
  ],
  [
    'crossEntropy with z-loss and weights of both signs',
    { a: [4, 5], w: [4, 1] },
    ({ a, w }, graph) =>
      crossEntropy(a!, { kind: 'single', tokens: graph.indices('indices', [4], 5) }, w!, { zLoss: 0.1 }).objective,
  ],
]

it.each(cases.map(([name, shapes, build, sign]) => ({ name, shapes, build, sign })))('$name', async testCase => {
  const error = await worstDerivativeError({
    inputs: randomValues(testCase.shapes, testCase.sign === 'positive'),
    fixed: { indices },
    build: (graph, inputs) => testCase.build(inputs, graph),
  })
  expect(error).toBeLessThan(1e-6)
})

it.each([
  [[3, 4], [4, 2], {}],
  [[4, 3], [4, 2], { transposeA: true }],
  [[3, 4], [2, 4], { transposeB: true }],
  [[4, 3], [2, 4], { transposeA: true, transposeB: true }],
  [[2, 2, 3, 4], [2, 2, 4, 2], {}],
  [[2, 4, 3], [2, 4, 2], { transposeA: true }],
  [[2, 3, 4], [2, 2, 4], { transposeB: true }],
  [[2, 4, 3], [2, 2, 4], { transposeA: true, transposeB: true }],
])('matrixProduct of %j and %j, %j', async (a, b, options) => {
  const inputs = randomValues({ a, b }, false)
  const error = await worstDerivativeError({ inputs, build: (_, { a, b }) => square(matrixProduct(a!, b!, options)) })
  expect(error).toBeLessThan(1e-6)
})

it('notices a wrong derivative', async () => {
  const wrong = (a: Tensor) => a.graph.composite('wrong', square(a), [a], gradient => [multiply(gradient, a)])
  const error = await worstDerivativeError({
    inputs: randomValues({ a: [3] }, true),
    build: (_, { a }) => wrong(a!),
  })
  expect(error).toBeGreaterThan(0.4)
})

it('rotary keeps norms, and products depend on the distance alone', async () => {
  const channels = 6
  const positions = 5
  const graph = new Graph('float64')
  const vector = graph.input('vector', [1, channels])
  const other = graph.input('other', [1, channels])
  const turned = (a: Tensor) => rotary(broadcastTo(a, [positions, channels]))
  const program = await compile({ products: matrixProduct(turned(vector), turned(other), { transposeB: true }) })
  const random = seededRandom(3)
  const draw = () => Float64Array.from({ length: channels }, () => random.normal())
  const a = draw()
  const { products } = await program.run({ vector: a, other: draw() })
  for (let query = 1; query < positions; query++)
    for (let key = 1; key < positions; key++)
      expect(products![query * positions + key]).toBeCloseTo(products![(query - 1) * positions + key - 1]!, 12)
  expect(products![0]).not.toBeCloseTo(products![1]!, 3)
  const { products: norms } = await program.run({ vector: a, other: a })
  for (let position = 0; position < positions; position++)
    expect(norms![position * (positions + 1)]).toBeCloseTo(norms![0]!, 12)
})
