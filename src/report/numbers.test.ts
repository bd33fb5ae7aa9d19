import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decimalsFor,
  durationText,
  forecastText,
  gainText,
  intervalText,
  percentText,
  plainNumber,
  signed,
} from './numbers.ts'

test('a gain has as many digits as its noise allows', () => {
  expect(gainText({ gain: 0.012345, standardError: 0.004 })).toBe('+0.0123 ± 0.0040')
  expect(gainText({ gain: -0.5, standardError: 0.0996 })).toBe('−0.50 ± 0.10')
  expect(gainText({ gain: 1234.6, standardError: 87 })).toBe('+1235 ± 87')
  expect(gainText({ gain: 0.00001, standardError: 0.004 })).toBe('0.0000 ± 0.0040')
  expect(gainText({ gain: 0.012345, standardError: null })).toBe('+0.0123')
  expect(gainText({ gain: 0.25, standardError: 0 })).toBe('+0.250 ± 0.000')
  expect(gainText(null)).toBe('–')
})

test('intervals and forecasts have the digits of their width', () => {
  expect(intervalText(-0.00412, 0.0213)).toBe('[−0.004, +0.021]')
  expect(forecastText([-0.00412, 0, 0.01204, 0.02, 0.0283])).toBe('+0.012 [−0.004, +0.028]')
  expect(forecastText([-0.52, -0.1, 0.0173, 0.3, 0.91])).toBe('+0.02 [−0.52, +0.91]')
  expect(forecastText([0.5, 0.5, 0.5, 0.5, 0.5])).toBe('+0.500 [+0.500, +0.500]')
  expect(forecastText([0, 0, 0, 0, 0])).toBe('0.0000 [0.0000, 0.0000]')
})

test('durations', () => {
  const cases: [number, string][] = [
    [0, '0 ms'],
    [0.044, '44 ms'],
    [0.9999, '1.0 s'],
    [9.96, '10 s'],
    [59.6, '1 min 00 s'],
    [185, '3 min 05 s'],
    [8040, '2 h 14 min'],
    [86399, '1 d 0 h'],
    [360_000, '4 d 4 h'],
  ]
  for (const [seconds, text] of cases) expect(durationText(seconds)).toBe(text)
})

test('a share that is not everything is never shown as everything', () => {
  expect([0, 0.001, 0.5, 0.999, 1].map(percentText)).toEqual(['0 %', '<1 %', '50 %', '>99 %', '100 %'])
})

test('plain numbers', () => {
  const cases: [number, string][] = [
    [0.0003, '0.0003'],
    [2.5e-8, '2.5e-8'],
    [0.02, '0.02'],
    [-0.5, '−0.5'],
    [131072, '131072'],
    [1.23456, '1.235'],
    [1e12, '1e+12'],
    [0, '0'],
  ]
  for (const [value, text] of cases) expect(plainNumber(value)).toBe(text)
})

test('no number, however odd, is shown as NaN, undefined or Infinity', () => {
  const anyNumber = fc.double()
  fc.assert(
    fc.property(
      fc.tuple(anyNumber, anyNumber, anyNumber, anyNumber, anyNumber),
      fc.double({ min: 0, max: 1 }),
      ([a, b, c, d, e], share) => {
        const texts = [
          gainText({ gain: a, standardError: Math.abs(b) }),
          gainText({ gain: a, standardError: null }),
          intervalText(a, b),
          forecastText([a, b, c, d, e]),
          percentText(share),
          durationText(b),
          plainNumber(c),
        ]
        for (const text of texts) expect(text).not.toMatch(/NaN|undefined|Infinity|^$/)
      },
    ),
  )
})

test('a signed number reads back as itself to its digits', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      fc.double({ min: 1e-6, max: 1e3, noNaN: true }),
      (value, scale) => {
        const decimals = decimalsFor(scale)
        const read = Number(signed(value, decimals).replace('−', '-'))
        expect(Math.abs(read - value)).toBeLessThanOrEqual(0.5 * 10 ** -decimals + 1e-9)
        expect(scale.toFixed(decimals)).not.toMatch(/^0?\.?0*$/)
      },
    ),
  )
})
