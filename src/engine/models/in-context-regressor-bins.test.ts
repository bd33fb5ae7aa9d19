/**
 * Distributions over bins: borders, and what is read from a distribution against its definition.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { binBorders, binOf, equalMassBorders, logDensity, mean, quantile } from './in-context-regressor-bins.ts'

/** Rising borders and log-probabilities that add up to one; some bins may have none. */
const distributions = fc
  .array(fc.record({ width: fc.double({ min: 0.01, max: 5, noNaN: true }), mass: fc.integer({ min: 0, max: 9 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .filter(bins => bins.some(({ mass }) => mass > 0))
  .map(bins => {
    const borders = [-3]
    for (const { width } of bins) borders.push(borders.at(-1)! + width)
    const total = bins.reduce((sum, { mass }) => sum + mass, 0)
    return {
      borders: Float64Array.from(borders),
      logProbabilities: Float32Array.from(bins, ({ mass }) => Math.log(mass / total)),
    }
  })

/** The probability of being below a value, by adding up. */
function below(logProbabilities: Float32Array, borders: Float64Array, value: number): number {
  return logProbabilities.reduce((sum, logProbability, bin) => {
    const [low, high] = [borders[bin]!, borders[bin + 1]!]
    return sum + Math.exp(logProbability) * Math.min(1, Math.max(0, (value - low) / (high - low)))
  }, 0)
}

describe('a distribution', () => {
  it('has quantiles that invert its cumulative probability', () => {
    fc.assert(
      fc.property(distributions, fc.double({ min: 0, max: 1, noNaN: true }), ({ borders, logProbabilities }, p) => {
        expect(below(logProbabilities, borders, quantile(logProbabilities, borders, p))).toBeCloseTo(p, 6)
      }),
    )
  })

  it('has the mean of its quantiles', () => {
    fc.assert(
      fc.property(distributions, ({ borders, logProbabilities }) => {
        const draws = Array.from({ length: 2000 }, (_, i) => quantile(logProbabilities, borders, (i + 0.5) / 2000))
        expect(mean(logProbabilities, borders)).toBeCloseTo(draws.reduce((a, b) => a + b) / draws.length, 1)
      }),
      { numRuns: 30 },
    )
  })

  it('has a density that integrates to one', () => {
    fc.assert(
      fc.property(distributions, ({ borders, logProbabilities }) => {
        let integral = 0
        for (let bin = 0; bin + 1 < borders.length; bin++) {
          const middle = (borders[bin]! + borders[bin + 1]!) / 2
          integral += Math.exp(logDensity(logProbabilities, borders, middle)) * (borders[bin + 1]! - borders[bin]!)
        }
        expect(integral).toBeCloseTo(1, 5)
      }),
    )
  })
})

describe('borders', () => {
  it('are evenly spaced, and every value has the bin around it', () => {
    const borders = binBorders(-1, 3, 8)
    expect([...borders]).toEqual([-1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3])
    expect([-9, -1, -0.51, -0.5, 2.99, 3, 1e9, Infinity].map(value => binOf(value, borders))).toEqual([
      0, 0, 0, 1, 7, 7, 7, 7,
    ])
  })

  it('of equal mass hold equally many values', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 41, maxLength: 41 }),
        fc.constantFrom(1, 2, 4, 5, 8, 10),
        (values, bins) => {
          const borders = equalMassBorders(values, bins)
          const counts = new Array<number>(bins).fill(0)
          for (const value of values) counts[binOf(value, borders)]!++
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
        },
      ),
      { numRuns: 50 },
    )
  })

  it.each<readonly [string, () => unknown, string]>([
    ['a range', () => binBorders(1, 1, 4), 'the range goes from 1 to 1: expected two numbers, the first smaller'],
    ['bins', () => binBorders(0, 1, 2.5), 'bins is 2.5: expected a positive whole number'],
    ['ties', () => equalMassBorders([1, 1, 1, 2], 2), '4 values do not fill 2 bins: bin 0 would go from 1 to 1'],
    ['nothing', () => equalMassBorders([], 2), '0 values do not fill 2 bins'],
    ['NaN', () => binOf(Number.NaN, binBorders(0, 1, 4)), 'the value is NaN'],
    ['a length', () => mean([0, 0], binBorders(0, 1, 4)), 'there are 2 log-probabilities and 5 borders'],
    ['p', () => quantile([0], binBorders(0, 1, 1), 1.5), 'p is 1.5: expected a number from 0 to 1'],
  ])('refused: %s', (_, make, message) => {
    expect(make).toThrow(message)
  })
})
