import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bestSoFar, naulc, oracleChoice } from './learning-curve.ts'
import { aboveWorst, type Gain, ndcgAt, regretAt } from './ranking.ts'

const { rankings } = JSON.parse(readFileSync(new URL('fixtures/statistics.json', import.meta.url), 'utf8')) as {
  rankings: { gains: number[]; predictions: number[]; k: number; ndcg: number }[]
}

const gain = fc.integer({ min: -4, max: 4 }).map(value => value / 4)
const gainOrFailure = fc.oneof({ weight: 3, arbitrary: gain }, fc.constant<Gain>(null))
const pool = fc.array(fc.tuple(gainOrFailure, fc.integer({ min: 0, max: 2 })), { minLength: 1, maxLength: 6 })
const gainsOf = (list: [Gain, number][]) => list.map(([gain]) => gain)
const predictionsOf = (list: [Gain, number][]) => list.map(([, prediction]) => prediction)

test.each(rankings)(
  'scikit-learn gives the same NDCG, ties included ($k of $predictions)',
  ({ gains, predictions, k, ndcg }) => {
    expect(ndcgAt(k, gains, predictions)).toBeCloseTo(ndcg, 12)
  },
)

function orders(items: number[]): number[][] {
  if (items.length === 0) return [[]]
  return items.flatMap(item => orders(items.filter(other => other !== item)).map(rest => [item, ...rest]))
}

/** Mean over all orders that the prediction allows: what the closed forms must equal. */
function overOrders(predictions: number[], score: (order: number[]) => number): number {
  const allowed = orders(predictions.map((_, index) => index)).filter(order =>
    order.every((index, place) => place === 0 || predictions[order[place - 1]!]! >= predictions[index]!),
  )
  return allowed.reduce((sum, order) => sum + score(order), 0) / allowed.length
}

test('both are the exact expectation over the orders of tied items', () => {
  fc.assert(
    fc.property(pool, fc.integer({ min: 1, max: 7 }), (list, k) => {
      const gains = gainsOf(list)
      const finished = gains.filter(value => value !== null)
      const nothing = Math.min(0, ...finished)
      const best = finished.length === 0 ? nothing : Math.max(...finished)
      const regret = overOrders(predictionsOf(list), order => {
        return best - Math.max(...order.slice(0, k).map(index => gains[index] ?? nothing))
      })
      expect(regretAt(k, gains, predictionsOf(list))).toBeCloseTo(finished.length === 0 ? 0 : regret, 10)

      const relevances = aboveWorst(gains)
      const gained = (order: number[]) =>
        order.slice(0, k).reduce((sum, index, place) => sum + relevances[index]! / Math.log2(place + 2), 0)
      const ideal = gained(relevances.map((_, index) => index).sort((i, j) => relevances[j]! - relevances[i]!))
      const ndcg = ideal === 0 ? 1 : overOrders(predictionsOf(list), gained) / ideal
      expect(ndcgAt(k, gains, predictionsOf(list))).toBeCloseTo(ndcg, 10)
    }),
  )
})

test('regret is never negative, does not grow with k, and is 0 for the whole pool', () => {
  fc.assert(
    fc.property(pool, list => {
      let before = Number.POSITIVE_INFINITY
      for (let k = 1; k <= list.length + 1; k++) {
        const regret = regretAt(k, gainsOf(list), predictionsOf(list))
        expect(regret).toBeGreaterThanOrEqual(0)
        expect(regret).toBeLessThanOrEqual(before + 1e-12)
        if (k >= list.length) expect(regret).toBe(0)
        before = regret
      }
    }),
  )
})

test('a perfect prediction has regret 0 and NDCG 1; nothing has more', () => {
  fc.assert(
    fc.property(pool, fc.integer({ min: 1, max: 6 }), (list, k) => {
      const gains = gainsOf(list)
      const perfect = gains.map(value => value ?? Number.NEGATIVE_INFINITY)
      expect(regretAt(k, gains, perfect)).toBe(0)
      expect(ndcgAt(k, gains, perfect)).toBeCloseTo(1, 12)
      const ndcg = ndcgAt(k, gains, predictionsOf(list))
      expect(ndcg).toBeGreaterThanOrEqual(0)
      expect(ndcg).toBeLessThanOrEqual(1)
    }),
  )
})

test('neither changes under strictly increasing maps of the prediction or the order of the pool', () => {
  fc.assert(
    fc.property(pool, fc.integer({ min: 1, max: 6 }), (list, k) => {
      const mapped = predictionsOf(list).map(value => Math.exp(3 * value) - 5)
      const turned = list.toReversed()
      for (const measure of [regretAt, ndcgAt]) {
        const value = measure(k, gainsOf(list), predictionsOf(list))
        expect(measure(k, gainsOf(list), mapped)).toBe(value)
        expect(measure(k, gainsOf(turned), predictionsOf(turned))).toBeCloseTo(value, 12)
      }
    }),
  )
})

test('a failure never helps: its place taken by any finished run is at least as good', () => {
  fc.assert(
    fc.property(pool, gain, fc.integer({ min: 1, max: 6 }), (list, other, k) => {
      const gains = gainsOf(list)
      const failed = gains.indexOf(null)
      if (failed < 0) return
      const finished = gains.filter(value => value !== null)
      fc.pre(finished.length > 0 && other <= Math.max(...finished) && other >= Math.min(...finished))
      const replaced = gains.with(failed, other)
      const [before, after] = [regretAt(k, gains, predictionsOf(list)), regretAt(k, replaced, predictionsOf(list))]
      expect(after).toBeLessThanOrEqual(before + 1e-12)
    }),
  )
})

test('failures by hand', () => {
  // Chosen alone, a failure is worth no gain; where gains are negative, the worst of them.
  expect(regretAt(1, [0.3, 0.1, null], [1, 2, 3])).toBeCloseTo(0.3, 12)
  expect(regretAt(1, [-0.3, -0.1, null], [1, 2, 3])).toBeCloseTo(0.2, 12)
  expect(regretAt(2, [0.3, 0.1, null], [1, 2, 3])).toBeCloseTo(0.2, 12)
  expect(regretAt(2, [null, null], [1, 2])).toBe(0)
  expect(ndcgAt(2, [null, null], [1, 2])).toBe(1)
  expect(ndcgAt(1, [0.3, 0.1, null], [1, 2, 3])).toBe(0)
  expect(ndcgAt(3, [0.2, 0.2, 0.2], [1, 2, 3])).toBe(1)
  // A constant prediction is choosing at random: the mean of three.
  expect(regretAt(1, [0.3, 0, 0.6], [0, 0, 0])).toBeCloseTo(0.3, 12)
})

test('relevance is a parameter', () => {
  const onlyImprovements = (gains: readonly Gain[]) => gains.map(value => Math.max(0, value ?? 0))
  expect(ndcgAt(1, [-0.1, -0.2, 0.5], [3, 2, 1], onlyImprovements)).toBe(0)
  expect(ndcgAt(1, [-0.1, -0.2, 0.5], [3, 2, 1])).toBeCloseTo(1 / 7, 12)
})

test('wrong arguments', () => {
  expect(() => regretAt(0, [1], [1])).toThrow('regretAt: k is 0')
  expect(() => regretAt(1, [], [])).toThrow('the pool is empty')
  expect(() => ndcgAt(1, [1, 2], [1])).toThrow('there are 2 gains and 1 predictions')
  expect(() => ndcgAt(1, [1], [Number.NaN])).toThrow('prediction 0 is NaN')
  expect(() => regretAt(1, [Number.POSITIVE_INFINITY], [1])).toThrow('gain 0 is Infinity')
})

const rounds = fc.array(
  fc.array(gainOrFailure, { minLength: 3, maxLength: 8 }).chain(list =>
    fc.record({
      pool: fc.constant(list),
      chosen: fc.shuffledSubarray(
        list.map((_, index) => index),
        { minLength: 3, maxLength: 3 },
      ),
    }),
  ),
  { minLength: 1, maxLength: 4 },
)

test('the oracle has nAULC 1, and nothing has more', () => {
  fc.assert(
    fc.property(rounds, list => {
      expect(naulc(list.map(({ pool }) => ({ pool, chosen: oracleChoice(3, pool) })))).toBe(1)
      expect(naulc(list)).toBeGreaterThanOrEqual(0)
      expect(naulc(list)).toBeLessThanOrEqual(1)
    }),
  )
})

test('nAULC by hand', () => {
  expect(bestSoFar([-0.2, null, 0.1, 0.05, 0.3])).toEqual([0, 0, 0.1, 0.1, 0.3])
  expect(oracleChoice(2, [0.1, null, 0.4, 0.4])).toEqual([2, 3])
  // Found at the second run of two what the oracle has from the first on.
  expect(naulc([{ pool: [0.4, null, 0.1], chosen: [1, 0] }])).toBeCloseTo(0.5, 12)
  expect(naulc([{ pool: [-0.4, null], chosen: [1, 0] }])).toBe(1)
  expect(() => naulc([{ pool: [1], chosen: [0, 0] }])).toThrow('runs a candidate twice')
  expect(() => naulc([{ pool: [1], chosen: [4] }])).toThrow('candidate 4 is not in its pool of 1')
})
