import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  effectiveSize,
  intervalOfShare,
  normalisedMean,
  populationError,
  populationMean,
} from './inverse-probability.ts'

test('without bias: over all samples there can be, the estimate is the mean of the population, its squared error the variance', () => {
  const member = fc.record({
    value: fc.double({ min: -5, max: 5, noNaN: true }),
    probability: fc.double({ min: 0.05, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(member, { minLength: 1, maxLength: 7 }), population => {
      // Each member is drawn or not: every subset, with its probability.
      let expected = 0
      let squaredError = 0
      let squares = 0
      for (let subset = 0; subset < 2 ** population.length; subset++) {
        const drawn = population.filter((_, index) => (subset >> index) & 1)
        const chance = population.reduce(
          (product, { probability }, index) => product * ((subset >> index) & 1 ? probability : 1 - probability),
          1,
        )
        const estimate = populationMean(drawn, population.length)
        expected += chance * estimate
        squares += chance * estimate ** 2
        squaredError += chance * populationError(drawn, population.length) ** 2
      }
      const truth = population.reduce((sum, { value }) => sum + value, 0) / population.length
      expect(expected).toBeCloseTo(truth, 9)
      expect(squaredError).toBeCloseTo(squares - truth ** 2, 8)
    }),
  )
})

test('normalised it lies between the values', () => {
  const observed = [
    { value: 1, probability: 0.1 },
    { value: 0, probability: 1 },
  ]
  expect(populationMean(observed, 5)).toBe(2)
  expect(normalisedMean(observed)).toBeCloseTo(10 / 11, 12)
})

test('the interval of a share is that of Wilson, and open where all were alike', () => {
  // Brown, Cai and DasGupta (2001) write it as (X + k²/2) / (n + k²) ± k sqrt(n) / (n + k²) sqrt(p q + k² / 4n).
  const [k, n, p] = [1.959964, 20, 0.3]
  const centre = (n * p + k ** 2 / 2) / (n + k ** 2)
  const margin = ((k * Math.sqrt(n)) / (n + k ** 2)) * Math.sqrt(p * (1 - p) + k ** 2 / (4 * n))
  const [low, high] = intervalOfShare(p, n)
  expect(low).toBeCloseTo(centre - margin, 12)
  expect(high).toBeCloseTo(centre + margin, 12)
  expect(intervalOfShare(1, 10)).toEqual([expect.closeTo(0.7225, 4), expect.closeTo(1, 12)])
})

test('equal chances are worth their number, one rare observation among many little more than itself', () => {
  expect(effectiveSize(Array.from({ length: 8 }, () => ({ probability: 0.3 })))).toBeCloseTo(8, 12)
  expect(effectiveSize([{ probability: 0.001 }, ...Array.from({ length: 9 }, () => ({ probability: 1 }))])).toBeCloseTo(
    1.018,
    3,
  )
  expect(effectiveSize([])).toBe(0)
})

test('a chance of nothing, and a population smaller than what was observed, are refused', () => {
  expect(() => populationMean([{ value: 1, probability: 0 }], 3)).toThrow('the chance of an observation is 0')
  expect(() => populationMean([{ value: 1, probability: 1 }], 0)).toThrow('1 were observed of a population of 0')
})
