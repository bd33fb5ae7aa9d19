import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { kendall } from './kendall.ts'
import { pairCounts } from './pair-counts.ts'
import { pairwiseAccuracy } from './pairwise.ts'
import { pearson, ranks, spearman } from './ranks.ts'

const { correlations } = JSON.parse(readFileSync(new URL('fixtures/statistics.json', import.meta.url), 'utf8')) as {
  correlations: { a: number[]; b: number[]; ranksA: number[]; spearman: number; kendall: number; pearson: number }[]
}

test.each(correlations)('SciPy gives the same correlations of $a and $b', ({ a, b, ...expected }) => {
  expect(ranks(a)).toEqual(expected.ranksA)
  expect(spearman(a, b)).toBeCloseTo(expected.spearman, 12)
  expect(kendall(a, b)).toBeCloseTo(expected.kendall, 12)
  expect(pearson(a, b)).toBeCloseTo(expected.pearson, 12)
})

const score = fc.integer({ min: -9, max: 9 })
const pairs = fc.array(fc.tuple(score, score), { minLength: 2, maxLength: 15 })
const increasing = [(x: number) => x ** 3 + x, (x: number) => Math.exp(x / 3), (x: number) => 100 * x - 7, Math.asinh]

test('order measures do not change under strictly increasing maps of the prediction', () => {
  fc.assert(
    fc.property(pairs, fc.constantFrom(...increasing), (list, map) => {
      const gains = list.map(([gain]) => gain)
      const predictions = list.map(([, prediction]) => prediction)
      const mapped = predictions.map(map)
      for (const measure of [spearman, kendall, pairwiseAccuracy]) {
        expect(measure(gains, mapped)).toEqual(measure(gains, predictions))
      }
    }),
  )
})

test('turned round, correlations change sign and pairwise accuracy is mirrored at one half', () => {
  fc.assert(
    fc.property(pairs, list => {
      const a = list.map(([first]) => first)
      const b = list.map(([, second]) => second)
      const turned = b.map(value => -value)
      for (const measure of [spearman, kendall, pearson]) {
        const straight = measure(a, b)
        if (straight === null) expect(measure(a, turned)).toBeNull()
        else expect(measure(a, turned)).toBeCloseTo(-straight, 12)
        expect(measure(a, b)).toEqual(measure(b, a))
      }
      const accuracy = pairwiseAccuracy(a, b)
      if (accuracy !== null) expect(pairwiseAccuracy(a, turned)).toBeCloseTo(1 - accuracy, 12)
    }),
  )
})

test('pairs counted by sorting are those counted one by one', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(score, score), { maxLength: 40 }), list => {
      const counted = { concordant: 0, discordant: 0, untiedFirst: 0, untiedSecond: 0, tiedInSecondOnly: 0 }
      for (const [index, [a, b]] of list.entries()) {
        for (const [c, d] of list.slice(0, index)) {
          if ((a - c) * (b - d) > 0) counted.concordant++
          if ((a - c) * (b - d) < 0) counted.discordant++
          if (a !== c) counted.untiedFirst++
          if (b !== d) counted.untiedSecond++
          if (a !== c && b === d) counted.tiedInSecondOnly++
        }
      }
      const [first, second] = [0, 1].map(side => list.map(pair => pair[side as 0 | 1]))
      expect(pairCounts('test', first!, second!)).toEqual(counted)
    }),
  )
  const infinite = [Number.NEGATIVE_INFINITY, 0, Number.POSITIVE_INFINITY]
  expect(kendall(infinite, [1, 2, 3])).toBe(1)
})

test('a constant has no correlation, and a tie in the prediction is half right', () => {
  for (const measure of [spearman, kendall, pearson]) {
    expect(measure([1, 1, 1], [1, 2, 3])).toBeNull()
    expect(measure([1, 2, 3], [0.1, 0.1, 0.1])).toBeNull()
    expect(measure([1], [2])).toBeNull()
    expect(() => measure([1, 2], [1])).toThrow('equal length, got 2 and 1')
  }
  expect(pairwiseAccuracy([1, 2, 3], [5, 5, 5])).toBe(0.5)
  expect(pairwiseAccuracy([1, 2, 3], [1, 2, 2])).toBeCloseTo(2.5 / 3, 12)
  expect(pairwiseAccuracy([1, 1], [1, 2])).toBeNull()
  expect(() => ranks([1, Number.NaN])).toThrow('value 1 is NaN')
  expect(() => pairwiseAccuracy([1, Number.NaN], [1, 2])).toThrow('item 1 is NaN')
})
