import { expect, test } from 'vitest'
import { digitsToTell, shortNumber } from './short-number.ts'

test.each([
  [0.017241017097437698, '0.017241'],
  [0.0009306042155522165, '0.000930604'],
  [-1.23456789e-9, '-1.23457e-9'],
  [0.1, '0.1'],
  [1e-7, '1e-7'],
  [123456.75, '123457'],
  [1234567, '1234567'],
  [100000000, '100000000'],
  [Number.NaN, 'NaN'],
])('%d is read as %s', (value, text) => {
  expect(shortNumber(value)).toBe(text)
})

test('two that differ never look alike', () => {
  for (const [first, second] of [
    [0.1234567, 0.1234568],
    [0.1 + 0.2, 0.3],
    [1, 1 + Number.EPSILON],
    [5, 5],
  ] as const) {
    const digits = digitsToTell(first, second)
    expect(shortNumber(first, digits) === shortNumber(second, digits)).toBe(first === second)
  }
  expect(digitsToTell('a', 2)).toBe(6)
})
