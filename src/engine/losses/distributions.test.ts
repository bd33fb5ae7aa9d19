/**
 * The distribution that is meant, and positions that are left out: by renormalising by hand what the model gives as it is.
 */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { add, scale } from '../algebra/arithmetic.ts'
import type { CrossEntropyDatum, PolicyDatum } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import type { Model } from '../models/model.ts'
import type { Loss } from './loss.ts'

const vocabulary = 5
const model = bigram({ vocabulary, contextLength: 4, initialDeviation: 1.5 })
const loss = { kind: 'cross_entropy' } as const
const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const shared = engine.createTrainer({ model, seed: 4 })

const tokens = Int32Array.from([3, 0, 2])
const whole: CrossEntropyDatum = { input: { tokens }, targets: 'vocabulary', weights: new Float32Array(15) }

it('is the model’s own, tempered and renormalised over what is left; what is taken away is minus infinity', async () => {
  const trainer = await shared
  const plain = (await trainer.forward([whole], loss)).logProbabilities[0]!
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      fc.uniqueArray(fc.integer({ min: 0, max: vocabulary - 1 }), { maxLength: 2 }),
      fc.array(fc.uniqueArray(fc.integer({ min: 0, max: vocabulary - 1 })), { minLength: 3, maxLength: 3 }),
      async (temperature, blocked, supports) => {
        const left = supports.map(support => {
          const allowed = support.length > 0 ? support : [0, 1, 2, 3, 4]
          return new Set(allowed.filter(token => !blocked.includes(token)))
        })
        if (left.some(({ size }) => size === 0)) return
        const offsets = [0, 1, 2, 3].map(count => supports.slice(0, count).flat().length)
        const support = { tokens: Int32Array.from(supports.flat()), offsets: Int32Array.from(offsets) }
        const found = await trainer.forward([{ ...whole, distribution: { temperature, blocked, support } }], loss)
        for (const [position, allowed] of left.entries()) {
          const powers = [0, 1, 2, 3, 4].map(token =>
            allowed.has(token) ? Math.exp(plain[vocabulary * position + token]! / temperature) : 0,
          )
          const sum = powers.reduce((total, power) => total + power)
          for (const [token, power] of powers.entries()) {
            const actual = found.logProbabilities[0]![vocabulary * position + token]!
            if (power === 0) expect(actual).toBe(Number.NEGATIVE_INFINITY)
            else expect(actual).toBeCloseTo(Math.log(power / sum), 4)
          }
        }
        expect(found.lossSum).toBe(0)
      },
    ),
    { numRuns: 30 },
  )
})

it('data of every kind in one call keep their places', async () => {
  const trainer = await shared
  const single = { input: { tokens }, targets: Int32Array.from([1, 4, 0]), weights: new Float32Array(3).fill(1) }
  const several = {
    input: { tokens: tokens.subarray(0, 2) },
    targets: { tokens: Int32Array.from([2, 2, 0]), offsets: Int32Array.from([0, 0, 3]) },
    weights: Float32Array.from([0.5, 0.25, -1]),
  }
  const data = [single, whole, several, { ...single, distribution: { temperature: 2 } }]
  const { logProbabilities, losses, lossSum } = await trainer.forward(data, loss)
  const all = logProbabilities[1]!
  expect(logProbabilities.map(({ length }) => length)).toEqual([3, 15, 3, 3])
  for (const [position, token] of [1, 4, 0].entries())
    expect(logProbabilities[0]![position]).toBeCloseTo(all[vocabulary * position + token]!, 6)
  for (const [index, token] of [2, 2, 0].entries())
    expect(logProbabilities[2]![index]).toBeCloseTo(all[vocabulary + token]!, 6)
  expect(logProbabilities[3]).not.toEqual(logProbabilities[0])
  expect(lossSum).toBeCloseTo(
    losses.flatMap(part => [...part]).reduce((sum, value) => sum + value),
    6,
  )
})

it.each<Loss>([{ kind: 'importance_sampling' }, { kind: 'ppo' }, { kind: 'cispo' }, { kind: 'dro', beta: 0.5 }])(
  '$kind: an advantage of 0 leaves a position out, whatever stands there',
  async policyLoss => {
    const trainer = await shared
    const datum: PolicyDatum = {
      input: { tokens },
      targets: Int32Array.from([1, 4, 0]),
      logProbabilities: Float32Array.from([Number.NEGATIVE_INFINITY, -1, Number.NaN]),
      advantages: Float32Array.from([0, 2, 0]),
      // The third target has no probability at all.
      distribution: { blocked: [0] },
    }
    const alone = {
      ...datum,
      input: { tokens: tokens.slice(1, 2) },
      targets: Int32Array.from([4]),
      logProbabilities: Float32Array.from([-1]),
      advantages: Float32Array.from([2]),
    }
    const gradients: Float32Array[] = []
    const results = []
    for (const data of [[datum], [alone]]) {
      results.push(await trainer.forwardBackward<Loss>(data as never[], policyLoss))
      gradients.push((await trainer.gradients()).get('logits')!)
      await trainer.clearGradients()
    }
    expect([...results[0]!.losses[0]!]).toEqual(
      [-0, results[1]!.losses[0]![0]!, -0].map(value => expect.closeTo(value, 6)),
    )
    expect(results[0]!.lossSum).toBeCloseTo(results[1]!.lossSum, 6)
    for (const [index, value] of gradients[1]!.entries()) expect(gradients[0]![index]).toBeCloseTo(value, 6)
    expect(gradients[1]!.some(value => Math.abs(value) > 0.01)).toBe(true)
  },
)

it('dro: an advantage next to 0 keeps the penalty', async () => {
  const trainer = await shared
  const drawn = Float32Array.of(-1, -2, -3)
  const datum = { input: { tokens }, targets: Int32Array.of(1, 4, 0), logProbabilities: drawn }
  const data = [{ ...datum, advantages: Float32Array.of(1e-30, 0, 1) }]
  const { losses, logProbabilities } = await trainer.forward(data, { kind: 'dro', beta: 0.5 })
  const penalty = (position: number) => 0.25 * (logProbabilities[0]![position]! - drawn[position]!) ** 2
  const expected = [penalty(0), 0, penalty(2) - logProbabilities[0]![2]!]
  expect([...losses[0]!].map(Math.abs)).toEqual(expected.map(value => expect.closeTo(value, 5)))
  expect(expected[0]).toBeGreaterThan(0.01)
})

it('a ratio beyond every number moves a clipped position by nothing, not by what is no number', async () => {
  const trainer = await shared
  const datum: PolicyDatum = {
    input: { tokens },
    targets: Int32Array.from([1, 4, 0]),
    logProbabilities: new Float32Array(3).fill(-1000),
    advantages: new Float32Array(3).fill(1),
  }
  for (const kind of ['ppo', 'cispo'] as const) {
    const { lossSum } = await trainer.forwardBackward([datum], { kind })
    expect(Number.isFinite(lossSum)).toBe(true)
    const gradient = (await trainer.gradients()).get('logits')!
    expect(gradient.every(Number.isFinite)).toBe(true)
    expect(gradient.some(value => value !== 0)).toBe(kind === 'cispo')
    await trainer.clearGradients()
  }
})

it('the loss on an inner state is the same loss on other logits, and is part of the sum', async () => {
  const inner: Model = {
    ...model,
    kind: 'bigram with an inner state',
    build(inputs) {
      const built = model.build(inputs)
      return { ...built, innerLogits: add(scale(built.logits, 0.5), built.logits) }
    },
  }
  const trainer = await engine.createTrainer({ model: inner, seed: 4 })
  const datum = { input: { tokens }, targets: Int32Array.from([1, 4, 0]), weights: Float32Array.from([1, -0.5, 2]) }
  const plain = await (await shared).forward([datum], loss)
  const tempered = await (await shared).forward([{ ...datum, distribution: { temperature: 1 / 1.5 } }], loss)
  const both = await trainer.forward([datum], { ...loss, innerStateWeight: 0.25 })
  expect(both.parts['innerState']).toBeCloseTo(0.25 * tempered.lossSum, 5)
  expect(both.lossSum).toBeCloseTo(plain.lossSum + 0.25 * tempered.lossSum, 5)
  expect(both.losses).toEqual(plain.losses)
  const smoothing = { ...loss, labelSmoothing: 0.3 }
  const smoothed = await trainer.forward([datum], { ...smoothing, innerStateWeight: 0.25 })
  const temperedSmoothed = await (await shared).forward(
    [{ ...datum, distribution: { temperature: 1 / 1.5 } }],
    smoothing,
  )
  expect(smoothed.parts['innerState']).toBeCloseTo(0.25 * temperedSmoothed.lossSum, 5)
})
