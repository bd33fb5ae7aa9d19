import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Forecast } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import { choose, scores } from './choose.ts'

const forecast = (median: number, finishes = 1): Forecast => ({
  quantiles: [median - 2, median - 1, median, median + 1, median + 2],
  finishes,
  forecaster: 'test',
  forecasterVersion: '1',
  recordIds: [],
})

test('without exploration the best k by score are chosen, with probability one', () => {
  const chosen = choose(
    [0.1, 0.5, -0.2, 0.3].map(gain => forecast(gain)),
    {
      choose: 2,
      exploration: 0,
      random: seededRandom(1),
    },
  )
  expect(chosen.map(({ choice }) => choice)).toEqual(['passed-over', 'exploited', 'passed-over', 'exploited'])
  expect(chosen.map(({ probability }) => probability)).toEqual([0, 1, 0, 1])
})

test('a candidate that will surely fail ranks last, whatever gain it promises', () => {
  const worth = scores([forecast(9, 0), forecast(-1), forecast(0.5, 0.9)])
  expect(worth[0]).toBe(-1)
  expect(worth[2]).toBeGreaterThan(worth[0]!)
})

test('a lower chance of finishing never makes a candidate look better', () => {
  const median = fc.double({ min: -3, max: 3, noNaN: true })
  const chance = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.array(median, { minLength: 1 }), median, chance, chance, (others, gain, a, b) => {
      const worth = (finishes: number) =>
        scores([...others.map(each => forecast(each)), forecast(gain, finishes)]).at(-1)!
      expect(worth(Math.min(a, b))).toBeLessThanOrEqual(worth(Math.max(a, b)) + 1e-12)
    }),
  )
})

test.each<[string, number[], Set<number>, number, number[]?]>([
  // Two of the ranks around the cut are equal.
  ['all pass', [5, 3, 3, 2, 1], new Set<number>(), 3],
  ['likely failures have less of a chance', [5, 3, 3, 2, 1], new Set([1, 3]), 3, [0.9, 0.1, 0.9, 0.02, 0.5]],
  ['equal scores with unequal chances to finish', [3, 3, 3, 3, 1], new Set([4]), 3, [0.9, 0.2, 0.6, 0.5, 0.3]],
  ['one weighs more than its place', [1, 1, 1], new Set([0, 1, 2]), 1.5, [1, 0.05, 0.05]],
  ['the gate holds back the best and the worst', [5, 3, 3, 2, 1], new Set([0, 4]), 3],
  // The best that passed, and one or two of the others: a place stays empty half of the time.
  ['the gate holds back all but one', [5, 3, 1], new Set([0, 2]), 2.5],
  ['the gate holds back all', [5, 3, 3, 1], new Set([0, 1, 2, 3]), 1.5],
])(
  'the stored probabilities are the frequencies of the rule, and add up to what runs: %s',
  (_, gains, gated, runs, finishes) => {
    const forecasts = gains.map(gain => forecast(gain))
    const counts = gains.map(() => 0)
    const weighed = finishes === undefined ? {} : { finishes }
    const rule = (seed: number) =>
      choose(forecasts, { choose: 3, exploration: 0.5, random: seededRandom(seed), gated, ...weighed })
    const draws = 20_000
    for (let seed = 0; seed < draws; seed++) {
      rule(seed).forEach(({ choice }, index) => {
        if (choice !== 'passed-over') counts[index]!++
      })
    }
    const stored = rule(0).map(({ probability }) => probability)
    expect(stored.reduce((sum, each) => sum + each, 0)).toBeCloseTo(runs, 12)
    counts.forEach((count, index) => {
      const p = stored[index]!
      expect(Math.abs(count / draws - p)).toBeLessThanOrEqual(4 * Math.sqrt((p * (1 - p)) / draws) + 1e-12)
    })
  },
)

test('what the gate holds back is never exploited, and has a known chance above zero exactly where there is exploration', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.double({ min: -3, max: 3, noNaN: true }), fc.boolean()), { minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 0.001, 0.1, 0.5, 0.9, 1),
      fc.integer(),
      (candidates, k, exploration, seed) => {
        const gated = new Set([...candidates.keys()].filter(index => candidates[index]![1]))
        const chosen = choose(
          candidates.map(([gain]) => forecast(gain)),
          { choose: k, exploration, random: seededRandom(seed), gated },
        )
        for (const index of gated) {
          expect(chosen[index]!.choice).not.toBe('exploited')
          expect(chosen[index]!.probability > 0).toBe(exploration > 0)
        }
        for (const { choice, probability } of chosen) {
          if (choice !== 'passed-over') expect(probability).toBeGreaterThan(0)
          expect(probability).toBeLessThanOrEqual(1 + 1e-12)
        }
      },
    ),
  )
})

test('k larger than the pool takes the whole pool, each once', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer(),
      (n, exploration, seed) => {
        const forecasts = Array.from({ length: n }, (_, index) => forecast(index))
        const chosen = choose(forecasts, { choose: n + 3, exploration, random: seededRandom(seed) })
        for (const each of chosen) {
          expect(each.choice).not.toBe('passed-over')
          expect(each.probability).toBeCloseTo(1, 12)
        }
      },
    ),
  )
})

test('where all scores are equal every candidate has the same chance, whatever its place in the list', () => {
  const forecasts = Array.from({ length: 6 }, () => forecast(0))
  const rule = (seed: number) => choose(forecasts, { choose: 2, exploration: 0, random: seededRandom(seed) })
  for (const { probability } of rule(1)) expect(probability).toBeCloseTo(1 / 3, 12)
  const first = Array.from({ length: 600 }, (_, seed) => rule(seed)[0]!.choice).filter(choice => choice === 'exploited')
  expect(first.length).toBeGreaterThan(150)
  expect(first.length).toBeLessThan(250)
})
