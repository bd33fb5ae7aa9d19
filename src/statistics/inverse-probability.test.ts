import fc from 'fast-check'
import { expect, test } from 'vitest'
import { effectiveSize, populationMean } from './inverse-probability.ts'

test('without bias: over all samples there can be, the estimate is the mean of the population', () => {
  const member = fc.record({
    value: fc.double({ min: -5, max: 5, noNaN: true }),
    probability: fc.double({ min: 0.05, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(member, { minLength: 1, maxLength: 7 }), population => {
      // Each member is drawn or not: every subset, with its probability.
      let expected = 0
      for (let subset = 0; subset < 2 ** population.length; subset++) {
        const drawn = population.filter((_, index) => (subset >> index) & 1)
        const chance = population.reduce(
          (product, { probability }, index) => product * ((subset >> index) & 1 ? probability : 1 - probability),
          1,
        )
        expected += chance * populationMean(drawn, population.length)
      }
      const truth = population.reduce((sum, { value }) => sum + value, 0) / population.length
      expect(expected).toBeCloseTo(truth, 9)
    }),
  )
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
