import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brierScore, brierSkill } from './brier.ts'
import { coverage, meanPinballLoss, pinballLoss } from './pinball.ts'
import { quantile } from './summary.ts'

const { losses } = JSON.parse(readFileSync(new URL('fixtures/statistics.json', import.meta.url), 'utf8')) as {
  losses: {
    brier: { probabilities: number[]; happened: boolean[]; score: number }
    pinball: { observed: number[]; predicted: number[]; level: number; loss: number }[]
  }
}

test('scikit-learn gives the same Brier score and pinball losses', () => {
  const { probabilities, happened, score } = losses.brier
  expect(brierScore(probabilities, happened)).toBeCloseTo(score, 12)
  for (const { observed, predicted, level, loss } of losses.pinball) {
    expect(
      meanPinballLoss(
        observed,
        predicted.map(value => [value]),
        [level],
      ),
    ).toBeCloseTo(loss, 12)
  }
})

test('Brier skill is 1 for certainty that is right, 0 for the base rate, and unknown where nothing varies', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), happened => {
      const share = happened.filter(Boolean).length / happened.length
      const right = brierSkill(happened.map(Number), happened)
      const base = brierSkill(
        happened.map(() => share),
        happened,
      )
      if (share === 0 || share === 1) expect([right, base]).toEqual([null, null])
      else {
        expect(right).toBe(1)
        expect(base).toBeCloseTo(0, 12)
      }
    }),
  )
})

test('no constant has less pinball loss than the quantile of the values', () => {
  const value = fc.integer({ min: -50, max: 50 })
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 15 }),
      value,
      fc.constantFrom(0.1, 0.25, 0.5, 0.9),
      (values, other, level) => {
        const loss = (constant: number) =>
          values.reduce((sum, observed) => sum + pinballLoss(observed, constant, level), 0)
        // Type 7 interpolates between the two order statistics around the minimum, or lies next to it.
        const sorted = values.toSorted((a, b) => a - b)
        const near = sorted[Math.min(values.length - 1, Math.floor(level * values.length))]!
        expect(loss(near)).toBeLessThanOrEqual(loss(other) + 1e-9)
        if (level === 0.5) expect(loss(quantile(values, 0.5))).toBeCloseTo(loss(near), 9)
      },
    ),
  )
})

test('coverage counts the ends as inside', () => {
  expect(coverage([0, 1, 2, 3], [0, 0, 0, 0], [2, 2, 2, 2])).toBe(0.75)
  expect(() => coverage([], [], [])).toThrow('coverage: the lists have 0 and 0 entries')
})

test('wrong arguments', () => {
  expect(() => brierScore([0.5], [])).toThrow('there are 1 probabilities and 0 events')
  expect(() => brierScore([1.5], [true])).toThrow('probability 0 is 1.5')
  expect(() => pinballLoss(1, 1, 1)).toThrow('level is 1')
  expect(() => meanPinballLoss([1], [[1]], [0.1, 0.5])).toThrow('the lists have 1 and 2 entries')
})
