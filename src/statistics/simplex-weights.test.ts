import fc from 'fast-check'
import { expect, test } from 'vitest'
import { simplexWeights } from './simplex-weights.ts'

test('without a loss it is the prior; with a linear one the known minimum', () => {
  expect(simplexWeights([0.2, 0.8], 1, () => [0, 0])).toEqual([0.2, 0.8])
  fc.assert(
    fc.property(fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 2, maxLength: 5 }), costs => {
      const prior = costs.map((_, index) => (index + 1) / ((costs.length * (costs.length + 1)) / 2))
      // The minimum of c · w + KL(w | prior) is prior · exp(-c), scaled (Gibbs).
      const gibbs = costs.map((cost, index) => prior[index]! * Math.exp(-cost))
      const sum = gibbs.reduce((all, value) => all + value, 0)
      const weights = simplexWeights(prior, 1, () => costs)
      for (const [index, weight] of weights.entries()) expect(weight).toBeCloseTo(gibbs[index]! / sum, 1)
      expect(weights.reduce((all, weight) => all + weight, 0)).toBeCloseTo(1, 9)
      expect(weights.every(weight => weight >= 0)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('a mixture is found where it is better than each', () => {
  // (0.3 - w)², by the gradient in both weights.
  const weights = simplexWeights([0.5, 0.5], 1e-3, ([first]) => [2 * (first! - 0.3), 0])
  expect(weights[0]).toBeCloseTo(0.3, 1)
  expect(() => simplexWeights([0, 1], 1, () => [0, 0])).toThrow('the prior is 0, 1')
})
