/**
 * Low-rank adapters on a real decoder: nothing changes at the start, gradients, merging, and what is refused.
 */
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { square } from '../algebra/functions.ts'
import { total } from '../algebra/reduction.ts'
import type { Adapters } from '../engine.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { gradientsOf } from '../graph/gradients.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { onnxModel } from '../graph/onnx.ts'
import { compile } from '../graph/program.ts'
import { crossEntropy } from '../losses/cross-entropy.ts'
import { decoder } from '../models/decoder.ts'
import type { Parameter } from '../parameter.ts'
import { mergeAdapters, withAdapters } from './adapted-weights.ts'
import { adaptedMatrices, adapterParameters, initialAdapterValues } from './adapter-parameters.ts'

const model = decoder({
  vocabulary: 7,
  contextLength: 5,
  depth: 2,
  width: 8,
  heads: 2,
  keyValueHeads: 1,
  feedForwardWidth: 12,
  tiedEmbeddings: true,
})
const adapters: Adapters = { rank: 2, alpha: 3 }
const tokens = Int32Array.of(1, 2, 3, 6, 0, 4, 4, 5, 1, 2)

const inputsOf = (graph: Graph, parameters: readonly Parameter[]) =>
  new Map(parameters.map(({ name, shape }) => [name, graph.input(name, shape)]))

function logits(graph: Graph, parameters: ReadonlyMap<string, Tensor>): Tensor {
  const batch = { rows: 2, positions: 5, tokens: graph.indices('tokens', [10], 7) }
  const lengths = graph.indices('lengths', [2], 6)
  return model.build({ graph, parameters, ...batch, lengths, dropout: (_, tensor) => tensor }).logits
}

/** B moved away from 0, so that the adapters do something. */
function movedAdapters(): Map<string, Float32Array> {
  const random = seededRandom('moved')
  const values = initialAdapterValues(model.parameters, adapters, 1)
  return new Map([...values].map(([name, array]) => [name, array.map(value => value + 0.3 * random.normal())]))
}

describe('the adapted model', () => {
  it('is its base at the start, to the last bit; later it is what merging gives', async () => {
    const graph = new Graph()
    const base = inputsOf(graph, model.parameters)
    const trained = inputsOf(graph, adapterParameters(model.parameters, adapters))
    const program = await compile({ adapted: logits(graph, withAdapters(base, trained, adapters)) })
    const plainGraph = new Graph()
    const plain = await compile({ logits: logits(plainGraph, inputsOf(plainGraph, model.parameters)) })
    const values = model.initialValues(3)
    const run = async (changes: ReadonlyMap<string, Float32Array>) =>
      (await program.run({ ...Object.fromEntries([...values, ...changes]), tokens }))['adapted']!
    const runPlain = async (changes: ReadonlyMap<string, Float32Array>) =>
      (await plain.run({ ...Object.fromEntries(changes), tokens }))['logits']!

    expect(await run(initialAdapterValues(model.parameters, adapters, 1))).toEqual(await runPlain(values))

    const moved = movedAdapters()
    const adapted = await run(moved)
    const merged = await runPlain(mergeAdapters(new Map([...values, ...moved]), adapters))
    const base0 = await runPlain(values)
    for (const [index, value] of adapted.entries()) expect(Math.abs(value - merged[index]!)).toBeLessThan(1e-5)
    expect(Math.max(...adapted.map((value, index) => Math.abs(value - base0[index]!)))).toBeGreaterThan(0.1)
    await program.dispose()
    await plain.dispose()
  })

  it('has gradients that agree with finite differences, on any projection', async () => {
    for (const projections of [undefined, ['attention.query', 'down', 'embedding']]) {
      const chosen: Adapters = { ...adapters, ...(projections && { projections }) }
      const random = seededRandom('gradients')
      const shapes = adapterParameters(model.parameters, chosen)
      const values = initialAdapterValues(model.parameters, chosen, 1)
      const moved = shapes.map(({ name, shape }) => {
        const array = Float64Array.from(values.get(name)!, value => value + 0.3 * random.normal())
        return [name, { shape, values: array }] as const
      })
      const base = [...model.initialValues(3)].map(([name, array]) => [name, Float64Array.from(array)] as const)
      const error = await worstDerivativeError({
        inputs: Object.fromEntries(moved),
        fixed: {
          ...Object.fromEntries(base),
          tokens,
          targets: Int32Array.of(2, 3, 6, 0, 1, 4, 5, 1, 2, 0),
          weights: Float64Array.of(1, 0.5, 0, -1, 1, 1, 2, 1, 0.3, 1),
        },
        build: (graph, inputs) => {
          const trained = new Map(Object.entries(inputs))
          const adapted = logits(graph, withAdapters(inputsOf(graph, model.parameters), trained, chosen))
          return crossEntropy(
            adapted,
            { kind: 'single', tokens: graph.indices('targets', [10], 7) },
            graph.input('weights', [10, 1]),
          ).objective
        },
        elements: 6,
      })
      expect(error).toBeLessThan(1e-5)
    }
  })

  it('needs less of the graph to train than the base: no gradient of an embedding, a norm or a bias', () => {
    const graph = new Graph()
    const base = inputsOf(graph, model.parameters)
    const trained = inputsOf(graph, adapterParameters(model.parameters, adapters))
    const objective = total(square(logits(graph, withAdapters(base, trained, adapters))))
    const operations = (sources: ReadonlyMap<string, Tensor>) => {
      const gradients = gradientsOf(objective, [...sources.values()])
      return onnxModel(new Map([...sources.keys()].map((name, index) => [name, gradients[index]!]))).operationCount
    }
    const all = operations(new Map([...base, ...trained]))
    // The embedding's gradient is a product with a one-hot matrix of three operations and a sum.
    expect(operations(trained)).toBeLessThan(all - 4)
  })
})

describe('parameters', () => {
  it('stand beside their matrices, by name and shape', () => {
    const parameters = adapterParameters(model.parameters, { rank: 3, projections: ['attention.key', 'down'] })
    expect(parameters.map(({ name, shape, role }) => `${name} ${shape.join('×')} ${role}`)).toEqual([
      'blocks.0.attention.key.adapter.a 8×3 matrix',
      'blocks.0.attention.key.adapter.b 3×4 matrix',
      'blocks.0.feedForward.down.adapter.a 12×3 matrix',
      'blocks.0.feedForward.down.adapter.b 3×8 matrix',
      'blocks.1.attention.key.adapter.a 8×3 matrix',
      'blocks.1.attention.key.adapter.b 3×4 matrix',
      'blocks.1.feedForward.down.adapter.a 12×3 matrix',
      'blocks.1.feedForward.down.adapter.b 3×8 matrix',
    ])
    expect(adaptedMatrices(model.parameters, { rank: 1 })).toHaveLength(2 * 7)
  })

  it('begin as A with deviation 1/sqrt(inputs) and B at zero, depending on seed and name alone', () => {
    const wide: Parameter[] = [{ name: 'wide', shape: [400, 6], role: 'matrix' }]
    const values = initialAdapterValues(wide, { rank: 25 }, 5)
    const a = values.get('wide.adapter.a')!
    expect(Math.sqrt(a.reduce((sum, value) => sum + value ** 2, 0) / a.length)).toBeCloseTo(1 / 20, 3)
    expect([...new Set(values.get('wide.adapter.b')!)]).toEqual([0])
    const other: Parameter = { name: 'other', shape: [3, 3], role: 'matrix' }
    expect(initialAdapterValues([other, ...wide], { rank: 25 }, 5).get('wide.adapter.a')).toEqual(a)
    expect(initialAdapterValues(wide, { rank: 25 }, 6).get('wide.adapter.a')).not.toEqual(a)
  })
})

it.each<readonly [Adapters, string]>([
  [{ rank: 0 }, 'adapters: rank is 0: expected a positive whole number'],
  [{ rank: 2, alpha: Number.NaN }, 'adapters: alpha is NaN: expected a positive number'],
  [
    { rank: 2, projections: ['uery'] },
    "adapters: no parameter's name ends in uery; there are embedding, attention.query, attention.key, " +
      'attention.value, attention.output, feedForward.gate, feedForward.up, feedForward.down',
  ],
  [
    { rank: 2, projections: ['attention.norm'] },
    'adapters: blocks.0.attention.norm has shape (8); only a matrix can have an adapter',
  ],
  [
    { rank: 2, projections: [] },
    'adapters: projections is empty, so that nothing would be trained; leave it out for all matrices',
  ],
])('%j is refused', (wrong, message) => {
  expect(() => adapterParameters(model.parameters, wrong)).toThrow(new Error(message))
})

it('values that do not fit are refused when they are merged', () => {
  const values = new Map([...model.initialValues(1), ...initialAdapterValues(model.parameters, adapters, 1)])
  expect(() => mergeAdapters(values, { rank: 4 })).toThrow(
    'mergeAdapters: adapters of 16 and 16 values at rank 4 do not fit the 64 of blocks.0.attention.query',
  )
})
