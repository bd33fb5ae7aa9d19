/**
 * The in-context regressor: what a distribution may depend on, and that it learns to regress from a handful of records.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { crossEntropy } from '../losses/cross-entropy.ts'
import { inContextRegressor } from './in-context-regressor.ts'
import { binBorders, mean } from './in-context-regressor-bins.ts'
import { type RegressionRecord, regressionDatum, regressionInput } from './in-context-regressor-data.ts'

const model = inContextRegressor({ features: 2, bins: 5, contextLength: 12, depth: 2, width: 8, heads: 2 })
const random = seededRandom('records')
const record = (): RegressionRecord => ({ features: [random.normal(), random.normal()], value: random.normal() })

function logits(graph: Graph, parameters: ReadonlyMap<string, Tensor>, positions: number): Tensor {
  return model.build({
    graph,
    parameters,
    rows: 1,
    positions,
    tokens: graph.indices('tokens', [positions], 1),
    lengths: graph.indices('lengths', [1], positions + 1),
    features: graph.input('features', [positions, 4]),
    dropout: (_, tensor) => tensor,
  }).logits
}

function movedValues() {
  const noise = seededRandom('moved')
  const values = model.initialValues(1)
  return Object.fromEntries(
    model.parameters.map(({ name, shape }) => {
      const moved = Float64Array.from(values.get(name)!, value => value + 0.2 * noise.normal())
      return [name, { shape, values: moved }]
    }),
  )
}

describe('a distribution', async () => {
  const positions = 9
  const graph = new Graph('float64')
  const parameters = new Map(model.parameters.map(({ name, shape }) => [name, graph.input(name, shape)]))
  const program = await compile({ logits: logits(graph, parameters, positions) })
  afterAll(() => program.dispose())
  const values = Object.fromEntries(Object.entries(movedValues()).map(([name, input]) => [name, input.values]))

  /** Logits by position; positions that are missing are padding full of nonsense. */
  async function run(features: Float32Array): Promise<number[][]> {
    const real = features.length / 4
    const padded = new Float64Array(4 * positions).fill(1)
    padded.set(features)
    const result = await program.run({ ...values, lengths: Int32Array.of(real), features: padded })
    return Array.from({ length: real }, (_, place) =>
      Array.from({ length: 5 }, (_, bin) => result['logits']![5 * place + bin]!),
    )
  }
  const ask = (records: readonly RegressionRecord[], queries: readonly RegressionRecord[]) =>
    run(regressionInput(records, queries).features!)
  const distance = (a: readonly number[], b: readonly number[]) =>
    Math.max(...a.map((value, index) => Math.abs(value - b[index]!)))

  const records = Array.from({ length: 5 }, record)
  const queries = Array.from({ length: 3 }, record)

  it('does not depend on the order of the records, but on each of them', async () => {
    const base = await ask(records, queries)
    const shuffled = await ask(seededRandom(1).shuffle(records), queries)
    for (const query of [5, 6, 7]) expect(distance(base[query]!, shuffled[query]!)).toBeLessThan(1e-12)
    for (const [place, changed] of records.entries())
      for (const other of [
        { ...changed, value: changed.value + 1 },
        { ...changed, features: [changed.features[0]!, changed.features[1]! + 1] },
      ]) {
        const after = await ask(records.with(place, other), queries)
        for (const query of [5, 6, 7]) expect(distance(base[query]!, after[query]!)).toBeGreaterThan(1e-4)
      }
  })

  it('of a query depends on its features, not on other queries, padding, or its own value', async () => {
    const base = await ask(records, queries)
    const alone = await ask(records, queries.slice(0, 1))
    expect(distance(alone[5]!, base[5]!)).toBeLessThan(1e-12)
    const others = await ask(records, [queries[0]!, record(), record()])
    expect(distance(others[5]!, base[5]!)).toBeLessThan(1e-12)
    expect(distance((await ask(records, [record()]))[5]!, base[5]!)).toBeGreaterThan(1e-4)
    const { features } = regressionInput(records, queries)
    const told = features!.slice()
    told[4 * 5 + 2] = 3
    expect(distance((await run(told))[5]!, base[5]!)).toBe(0)
  })

  it('of a record does not depend on queries', async () => {
    const [withQueries, without] = [await ask(records, queries), await ask(records, [])]
    for (const place of records.keys()) expect(distance(withQueries[place]!, without[place]!)).toBeLessThan(1e-12)
  })
})

it('gradients agree with finite differences', async () => {
  const { features } = regressionInput(Array.from({ length: 3 }, record), Array.from({ length: 2 }, record))
  const error = await worstDerivativeError({
    inputs: movedValues(),
    fixed: {
      lengths: Int32Array.of(5),
      features: Float64Array.from(features!),
      targets: Int32Array.of(0, 1, 2, 3, 4),
      weights: Float64Array.of(0, 0.5, -1, 1, 2),
    },
    build: (graph, inputs) =>
      crossEntropy(
        logits(graph, new Map(Object.entries(inputs)), 5),
        { kind: 'single', tokens: graph.indices('targets', [5], 5) },
        graph.input('weights', [5, 1]),
      ).objective,
    elements: 12,
  })
  expect(error).toBeLessThan(1e-5)
})

it('learns to draw a line through the records of its context', async () => {
  const borders = binBorders(-3, 3, 24)
  const draws = seededRandom('lines')
  const line = () => {
    const [slope, offset] = [draws.normal(), 0.5 * draws.normal()]
    const point = (): RegressionRecord => {
      const x = 2 * draws.uniform() - 1
      return { features: [x], value: slope * x + offset + 0.1 * draws.normal() }
    }
    return { records: Array.from({ length: 6 }, point), queries: Array.from({ length: 6 }, point) }
  }
  const engine = createEmbeddedEngine()
  const regressor = inContextRegressor({ features: 1, bins: 24, contextLength: 12, depth: 2, width: 16, heads: 2 })
  const trainer = await engine.createTrainer({ model: regressor, seed: 1 })
  const batch = Array.from({ length: 16 }, (_, index) => index)
  const steps = 400
  for (let step = 0; step < steps; step++) {
    const data = batch.map(() => {
      const { records, queries } = line()
      return regressionDatum(records, queries, borders, 1 / (16 * 6))
    })
    await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    const learningRate = 0.01 * (1 - step / steps)
    await trainer.optimStep({
      groups: [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate }],
      clipNorm: 1,
    })
  }
  let [error, variance] = [0, 0]
  const lines = Array.from({ length: 40 }, line)
  const bins = borders.length - 1
  const sampler = await trainer.snapshot()
  const distributions = await sampler.distributions(
    lines.map(({ records, queries }) => ({ input: regressionInput(records, queries) })),
  )
  for (const [index, { queries }] of lines.entries())
    for (const [place, { value }] of queries.entries()) {
      const start = (6 + place) * bins
      error += (mean(distributions[index]!.subarray(start, start + bins), borders) - value) ** 2
      variance += value ** 2
    }
  // What the prior alone knows is that values are around zero.
  expect(error).toBeLessThan(0.2 * variance)
  await engine.dispose()
})

it.each([
  [{ features: 0, bins: 4 }, 'features is 0: expected a positive whole number'],
  [{ width: 9, heads: 2 }, 'width is 9: expected a multiple of heads, which is 2'],
])('%j is refused', (changes, message) => {
  const sound = { features: 1, bins: 4, contextLength: 4, depth: 1, width: 8, heads: 2 }
  expect(() => inContextRegressor({ ...sound, ...changes })).toThrow(
    new Error(`The in-context regressor's configuration is not valid: ${message}`),
  )
})

it('records of different sizes are refused', () => {
  expect(() => regressionInput([record()], [{ features: [1, 2, 3] }])).toThrow(
    'regressionInput: position 1 has 3 features: expected 2, as position 0',
  )
})
