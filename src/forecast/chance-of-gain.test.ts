import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Quantiles } from '../experiment/record.ts'
import { normalCdf } from '../statistics/normal.ts'
import { chanceOfGain } from './chance-of-gain.ts'
import { normalQuantiles } from './quantiles.ts'

const number = fc.double({ min: -10, max: 10, noNaN: true })

test('of a normal forecast it is the normal tail, in the middle and far out, times the chance of finishing', () => {
  fc.assert(
    fc.property(number, fc.double({ min: 0.01, max: 5, noNaN: true }), number, (centre, deviation, above) => {
      const forecast = { quantiles: normalQuantiles(centre, deviation), finishes: 0.8 }
      expect(chanceOfGain(forecast, above)).toBeCloseTo(0.8 * (1 - normalCdf((above - centre) / deviation)), 9)
    }),
  )
})

test('at a quantile it is one minus its level; it never grows with what is asked for', () => {
  const sorted = fc.array(number, { minLength: 5, maxLength: 5 }).map(five => five.sort((a, b) => a - b))
  fc.assert(
    fc.property(sorted, number, number, (five, a, b) => {
      const forecast = { quantiles: five as unknown as Quantiles, finishes: 1 }
      expect(chanceOfGain(forecast, Math.max(a, b))).toBeLessThanOrEqual(chanceOfGain(forecast, Math.min(a, b)) + 1e-12)
      if (new Set(five).size === 5) {
        const chances = five.map(quantile => chanceOfGain(forecast, quantile))
        for (const [index, level] of [0.1, 0.25, 0.5, 0.75, 0.9].entries()) {
          expect(chances[index]).toBeCloseTo(1 - level, 9)
        }
      }
    }),
  )
})

test('where all quantiles are one number, that number is certain and is not above itself', () => {
  const forecast = { quantiles: [2, 2, 2, 2, 2] as Quantiles, finishes: 0.5 }
  expect([1.99, 2, 2.01].map(above => chanceOfGain(forecast, above))).toEqual([0.5, 0, 0])
  const half = { quantiles: [-1, 0, 0, 0, 1] as Quantiles, finishes: 1 }
  expect(chanceOfGain(half)).toBeCloseTo(0.25, 9)
  expect(chanceOfGain(half, -1e-9)).toBeCloseTo(0.75, 6)
})
