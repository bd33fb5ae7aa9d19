import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holm } from './holm.ts'
import { kendall } from './kendall.ts'
import { seededRandom } from './random.ts'
import { signFlipProbability } from './sign-flips.ts'

test('Holm by hand, and as statsmodels has it', () => {
  const rounded = (pValues: readonly number[]) => holm(pValues).map(p => Number(p.toFixed(12)))
  expect(rounded([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02])
  // statsmodels 0.15, multipletests(p, method='holm')[1].
  expect(rounded([0.01, 0.04, 0.03, 0.005, 0.2, 0.0004, 0.9, 0.03])).toEqual([
    0.06, 0.15, 0.15, 0.035, 0.4, 0.0032, 0.9, 0.15,
  ])
  expect(holm([])).toEqual([])
  expect(() => holm([0.1, 1.2])).toThrow('p-value 1 is 1.2')
})

test('Holm lies between the p-value and Bonferroni, in the same order', () => {
  const probability = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.array(probability, { maxLength: 10 }), pValues => {
      const adjusted = holm(pValues)
      for (const [i, p] of pValues.entries()) {
        expect(adjusted[i]).toBeGreaterThanOrEqual(p)
        expect(adjusted[i]).toBeLessThanOrEqual(Math.min(1, p * pValues.length))
        for (const [j, q] of pValues.entries()) if (p < q) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j]!)
      }
    }),
  )
})

test('turned signs: exact as SciPy has it, and never below what so few blocks can say', () => {
  const random = seededRandom(1)
  // SciPy, permutation_test of the sum with permutation_type='samples'.
  expect(signFlipProbability([1.2, -0.4, 0.9, 2.1, 0.3, -0.1, 1.5, 0.6, -0.8], random)).toBeCloseTo(0.109375, 12)
  expect(signFlipProbability([1, 2, 3, 4], random)).toBeCloseTo(0.125, 12)
  expect(signFlipProbability([-5, -5, -5], random)).toBe(0.25)
  expect(signFlipProbability([0, 0], random)).toBe(1)
  expect(signFlipProbability([], random)).toBe(1)
  expect(() => signFlipProbability([1, Number.NaN], random)).toThrow('difference 1 is NaN')
})

test('turned signs: where there is no difference, p is uniform, with many blocks too', () => {
  const random = seededRandom(2)
  const rejected = Array.from({ length: 80 }, () =>
    signFlipProbability(
      Array.from({ length: 40 }, () => random.normal()),
      random,
    ),
  ).filter(p => p <= 0.1)
  // Binomial(80, 0.1): 8, with a standard deviation of 2.7.
  expect(rejected.length).toBeGreaterThan(1)
  expect(rejected.length).toBeLessThan(17)
  expect(signFlipProbability(Array<number>(40).fill(1), random)).toBeCloseTo(1e-4, 12)
})

test('Kendall of items that have no order is refused; infinities have one', () => {
  expect(kendall([1, 2, Number.POSITIVE_INFINITY], [1, 2, 3])).toBe(1)
  expect(() => kendall([1, Number.NaN], [1, 2])).toThrow('item 1 is NaN')
})
