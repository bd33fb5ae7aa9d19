import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalCdf, normalQuantile } from './normal.ts'
import { studentCdf, studentQuantile } from './student.ts'

const { distributions } = JSON.parse(readFileSync(new URL('fixtures/statistics.json', import.meta.url), 'utf8')) as {
  distributions: {
    studentCdf: { t: number; degrees: number; p: number }[]
    studentQuantile: { t: number; degrees: number; p: number }[]
    normalCdf: { x: number; p: number }[]
    normalQuantile: { x: number; p: number }[]
  }
}

/** Relative, so that a tail of 1e-100 is held to the same digits. */
function expectRelative(value: number, expected: number, digits: number) {
  expect(Math.abs(value - expected)).toBeLessThanOrEqual(10 ** -digits * Math.abs(expected))
}

test('fifty-digit arithmetic gives the same distribution functions', () => {
  for (const { t, degrees, p } of distributions.studentCdf) expectRelative(studentCdf(t, degrees), p, 11)
  for (const { x, p } of distributions.normalCdf) expectRelative(normalCdf(x), p, 13)
  for (const { p, x } of distributions.normalQuantile) expectRelative(normalQuantile(p), x, 13)
})

test('SciPy gives the same quantiles of t', () => {
  for (const { p, degrees, t } of distributions.studentQuantile) expectRelative(studentQuantile(p, degrees), t, 11)
})

const degrees = fc.oneof(fc.double({ min: 0.2, max: 100, noNaN: true }), fc.integer({ min: 1, max: 10_000_000 }))

test('the quantile undoes the distribution function', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true }), degrees, (p, v) => {
      expect(studentCdf(studentQuantile(p, v), v)).toBeCloseTo(p, 10)
      expect(normalCdf(normalQuantile(p))).toBeCloseTo(p, 12)
    }),
  )
})

test('t is symmetric, increasing, and tends to the normal', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -30, max: 30, noNaN: true }),
      fc.double({ min: 0.01, max: 5, noNaN: true }),
      degrees,
      (t, more, v) => {
        expect(studentCdf(t, v) + studentCdf(-t, v)).toBeCloseTo(1, 13)
        expect(studentCdf(t + more, v)).toBeGreaterThanOrEqual(studentCdf(t, v))
        expect(studentCdf(t, 1e9)).toBeCloseTo(normalCdf(t), 8)
        expect(studentCdf(t, Number.POSITIVE_INFINITY)).toBe(normalCdf(t))
      },
    ),
  )
})

test('ends and wrong arguments', () => {
  expect(studentCdf(Number.NEGATIVE_INFINITY, 3)).toBe(0)
  expect(studentCdf(Number.POSITIVE_INFINITY, 3)).toBe(1)
  expect(studentQuantile(0, 3)).toBe(Number.NEGATIVE_INFINITY)
  expect(studentQuantile(1, 3)).toBe(Number.POSITIVE_INFINITY)
  expect(normalCdf(Number.NEGATIVE_INFINITY)).toBe(0)
  expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY)
  expect(studentCdf(Number.NaN, 3)).toBeNaN()
  expect(() => studentCdf(1, 0)).toThrow('studentCdf: there are 0 degrees of freedom')
  expect(() => studentQuantile(1.5, 3)).toThrow('p is 1.5; it must lie in [0, 1]')
  expect(() => normalQuantile(Number.NaN)).toThrow('p is NaN')
})
