/**
 * Custom losses: those that an engine has built in give the same gradients when they are written by hand, exactly by the chain rule; others give
 * those of the same loss written as a graph.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import { multiply, subtract } from './algebra/arithmetic.ts'
import { exp } from './algebra/functions.ts'
import { total } from './algebra/reduction.ts'
import { logSoftmax } from './algebra/softmax.ts'
import { type CustomDatum, type CustomLossFunction, checkDerivative, forwardBackwardCustom } from './custom-loss.ts'
import type { CrossEntropyDatum, PolicyDatum } from './datum.ts'
import { createEmbeddedEngine } from './embedded/engine.ts'
import { gradientsOf } from './graph/gradients.ts'
import { Graph, type Tensor } from './graph/graph.ts'
import { compile } from './graph/program.ts'
import type { Loss } from './losses/loss.ts'
import { decoder } from './models/decoder.ts'
import type { ParameterArrays, Trainer } from './training.ts'

const vocabulary = 7
const model = decoder({
  vocabulary,
  contextLength: 6,
  depth: 1,
  width: 8,
  heads: 2,
  initialisationScale: 2,
  dropout: 0.2,
})
const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const shared = engine.createTrainer({ model, seed: 3 })
const clear = { groups: [{ match: () => true, optimiser: { kind: 'sgd' }, learningRate: 0 }] } as const

const random = seededRandom('custom loss')
const draws = (length: number, scale = 1) => Float32Array.from({ length }, () => scale * random.normal())
const someTokens = (length: number) => Int32Array.from({ length }, () => random.integer(vocabulary))
const lengths = [6, 6, 4, 6, 6]
const policyData: PolicyDatum[] = lengths.map(length => ({
  input: { tokens: someTokens(length) },
  targets: someTokens(length),
  // Around those of the model, so that ratios fall on both sides of every bound.
  logProbabilities: draws(length, 0.7).map(value => value - 2),
  advantages: draws(length),
}))

async function taken(trainer: Trainer): Promise<ParameterArrays> {
  const gradients = await trainer.gradients()
  await trainer.clearGradients()
  return gradients
}

function expectClose(actual: ParameterArrays, expected: ParameterArrays): void {
  for (const [name, values] of expected) {
    const largest = Math.max(...values.map(Math.abs))
    expect(largest, name).toBeGreaterThan(0)
    for (const [index, value] of values.entries())
      expect(Math.abs(actual.get(name)![index]! - value) / largest, `${name}[${index}]`).toBeLessThan(1e-4)
  }
}

/** A sum over all positions of what `at` makes of a log-probability, and of its derivative by it. */
const sumOver =
  (at: (lp: number, q: number, advantage: number) => readonly [number, number]): CustomLossFunction =>
  logProbabilities => {
    let loss = 0
    const gradients = logProbabilities.map((values, datum) => {
      const { logProbabilities: drawn, advantages } = policyData[datum]!
      return Float64Array.from(values, (lp, position) => {
        const [value, slope] = at(lp, drawn[position]!, advantages[position]!)
        loss += value
        return slope
      })
    })
    return { loss, gradients }
  }

const clip = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high)
const byHand: readonly (readonly [string, Loss, CustomLossFunction])[] = [
  ['cross-entropy', { kind: 'cross_entropy' }, sumOver((lp, _, weight) => [-weight * lp, -weight])],
  [
    'importance sampling',
    { kind: 'importance_sampling' },
    sumOver((lp, q, a) => [-Math.exp(lp - q) * a, -Math.exp(lp - q) * a]),
  ],
  [
    'PPO',
    { kind: 'ppo', clipLow: 0.7, clipHigh: 1.3 },
    sumOver((lp, q, a) => {
      const ratio = Math.exp(lp - q)
      const [open, clipped] = [ratio * a, clip(ratio, 0.7, 1.3) * a]
      return open <= clipped ? [-open, -open] : [-clipped, 0]
    }),
  ],
  ['DRO', { kind: 'dro', beta: 0.3 }, sumOver((lp, q, a) => [-(lp * a - 0.15 * (lp - q) ** 2), -(a - 0.3 * (lp - q))])],
]
/** The weight is not differentiated, so that the derivative is none of the value. */
const cispo = sumOver((lp, q, a) => {
  const weight = clip(Math.exp(lp - q), 0, 1.5) * a
  return [-weight * lp, -weight]
})

const logProbabilitiesOf = (data: readonly PolicyDatum[]) =>
  data.map(({ logProbabilities }) => logProbabilities.map(lp => lp + 0.1))

describe.each([...byHand, ['CISPO', { kind: 'cispo', clipHigh: 1.5 }, cispo] as const])(
  '%s by hand',
  (name, loss, f) => {
    it('has the gradients of the built-in one', async () => {
      const trainer = await shared
      const options = { dropoutSeed: 5 }
      const data =
        loss.kind === 'cross_entropy'
          ? policyData.map(({ input, targets, advantages }) => ({ input, targets, weights: advantages }))
          : policyData
      const built = await trainer.forwardBackward<Loss>(data as (CrossEntropyDatum & PolicyDatum)[], loss, options)
      const expected = await taken(trainer)
      const custom = await forwardBackwardCustom(trainer, policyData, f, options)
      expect(custom.loss).toBeCloseTo(built.lossSum, 4)
      for (const [index, values] of built.logProbabilities.entries())
        for (const [position, value] of values.entries())
          expect(custom.logProbabilities[index]![position]).toBeCloseTo(value, 5)
      expectClose(await taken(trainer), expected)
      if (name !== 'CISPO') expect(checkDerivative(f, logProbabilitiesOf(policyData))).toBeLessThan(1e-6)
    })
  },
)

describe('over the whole vocabulary', () => {
  const rows = 4
  const data: CustomDatum[] = Array.from({ length: rows }, () => ({
    input: { tokens: someTokens(6) },
    targets: 'vocabulary',
  }))
  const reference = data.map(() => draws(6 * vocabulary).map(value => value - 2))
  const entries =
    (at: (lp: number, other: number) => readonly [number, number]): CustomLossFunction =>
    logProbabilities => {
      let loss = 0
      const gradients = logProbabilities.map((values, datum) =>
        Float64Array.from(values, (lp, index) => {
          const [value, slope] = at(lp, reference[datum]![index]!)
          loss += value
          return slope
        }),
      )
      return { loss, gradients }
    }

  it.each<readonly [string, CustomLossFunction, (lp: Tensor, other: Tensor) => Tensor]>([
    [
      'negative entropy',
      entries(lp => [Math.exp(lp) * lp, Math.exp(lp) * (lp + 1)]),
      lp => total(multiply(exp(lp), lp)),
    ],
    [
      'reverse KL to a reference',
      entries((lp, other) => [Math.exp(lp) * (lp - other), Math.exp(lp) * (lp - other + 1)]),
      (lp, other) => total(multiply(exp(lp), subtract(lp, other))),
    ],
  ])('%s has the gradients of the same loss as a graph', async (_, f, build) => {
    expect(
      checkDerivative(
        f,
        reference.map(values => values.map(lp => lp - 0.1)),
      ),
    ).toBeLessThan(1e-6)
    const trainer = await shared
    const { loss } = await forwardBackwardCustom(trainer, data, f, { dropoutSeed: null })
    const found = await taken(trainer)

    const graph = new Graph('float64')
    const parameters = new Map(model.parameters.map(({ name, shape }) => [name, graph.input(name, shape)]))
    const { logits } = model.build({
      graph,
      parameters,
      rows,
      positions: 6,
      tokens: graph.indices('tokens', [rows * 6], vocabulary),
      lengths: graph.indices('lengths', [rows], 7),
      dropout: (_name, tensor) => tensor,
    })
    const objective = build(logSoftmax(logits), graph.input('reference', logits.shape))
    const gradients = gradientsOf(objective, [...parameters.values()])
    const outputs = Object.fromEntries([...parameters.keys()].map((name, index) => [name, gradients[index]!]))
    const program = await compile({ ...outputs, objective })
    const values = await trainer.values()
    const results = await program.run({
      ...Object.fromEntries([...values].map(([name, array]) => [name, Float64Array.from(array)])),
      tokens: Int32Array.from(data.flatMap(({ input }) => [...input.tokens])),
      lengths: new Int32Array(rows).fill(6),
      reference: Float64Array.from(reference.flatMap(array => [...array])),
    })
    await program.dispose()
    expect(loss).toBeCloseTo((results['objective'] as Float64Array)[0]!, 4)
    expectClose(
      found,
      new Map([...values.keys()].map(name => [name, Float32Array.from(results[name] as Float64Array)])),
    )
  })
})

const minusSum: CustomLossFunction = logProbabilities => ({
  loss: -logProbabilities.flatMap(values => [...values]).reduce((sum, value) => sum + value, 0),
  gradients: logProbabilities.map(values => values.map(() => -1)),
  metrics: { data: logProbabilities.length },
})

it('both passes take the same dropout masks, others for other data and after a step; metrics are passed on', async () => {
  const trainer = await engine.createTrainer({ model, seed: 3 })
  const [first, second] = [policyData.slice(0, 1), policyData.slice(1, 2)]
  const passes: unknown[] = []
  const watched = {
    version: 0,
    vocabulary,
    forward: ((data, loss, options) => {
      passes.push(options?.dropoutSeed)
      return trainer.forward(data, loss, options)
    }) as Trainer['forward'],
    forwardBackward: (async (data, loss, options) => {
      passes.push(options?.dropoutSeed)
      const result = await trainer.forwardBackward(data, loss, options)
      expect(options?.dropoutSeed).toBe(passes.at(-2))
      return result
    }) as Trainer['forwardBackward'],
  }
  const { metrics, loss } = await forwardBackwardCustom(watched, first, minusSum)
  expect(metrics).toEqual({ data: 1 })
  const plain = await trainer.forward(
    first.map(datum => ({ ...datum, weights: new Float32Array(6).fill(1) })),
    {
      kind: 'cross_entropy',
    },
  )
  expect(loss).not.toBeCloseTo(plain.lossSum, 3)
  await forwardBackwardCustom(watched, second, minusSum)
  await forwardBackwardCustom({ ...watched, version: 1 }, first, minusSum)
  await forwardBackwardCustom(watched, first, minusSum)
  expect(passes).toHaveLength(8)
  expect(new Set(passes).size).toBe(3)
  expect(passes[6]).toBe(passes[0])
})

it('refuses derivatives that do not fit or are no numbers, and says when a step came between', async () => {
  const trainer = await engine.createTrainer({ model, seed: 3 })
  const data = policyData.slice(0, 2)
  const giving =
    (gradients: (lps: readonly (Float32Array | Float64Array)[]) => Float32Array[]): CustomLossFunction =>
    lps => ({ loss: 0, gradients: gradients(lps) })
  const refused = (f: CustomLossFunction) => expect(forwardBackwardCustom(trainer, data, f)).rejects
  await refused(giving(() => [])).toThrow('gave derivatives for 0 data: expected 2, one for each')
  await refused(giving(() => [new Float32Array(6), new Float32Array(5)])).toThrow(
    'gave 5 derivatives for data[1]: expected 6, one for each target',
  )
  await refused(giving(() => [new Float32Array(6), new Float32Array(6).fill(Number.NaN, 2, 3)])).toThrow(
    'derivative by log-probability 2 of data[1] is NaN',
  )
  await expect(trainer.optimStep(clear)).rejects.toThrow('there are no gradients')

  await trainer.forwardBackward([{ ...data[0]!, weights: new Float32Array(6) }], { kind: 'cross_entropy' })
  const custom = forwardBackwardCustom(trainer, data, minusSum)
  await Promise.all([trainer.optimStep(clear), expect(custom).rejects.toThrow('took a step between the two passes')])
})
