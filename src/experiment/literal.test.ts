import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readLiteral } from './literal.ts'

const read = (text: string, slashes = true) => readLiteral(text, 0, slashes)

describe('readLiteral', () => {
  test.each([
    ['3e-4', 3e-4],
    ['2**17', 131_072],
    ['1_000', 1000],
    ['1e-3 * 4', 0.004],
    ['-0.5', -0.5],
    ['-2**2', -4],
    ['2**-1', 0.5],
    ['2 ** 3 ** 2', 512],
    ['7 // 2', 3],
    ['1 << 20', 1_048_576],
    ['(1 + 2) * 3', 9],
    ['8 / 4 / 2', 1],
    ['10 - 3 - 2', 5],
    ['.5', 0.5],
    ['5.', 5],
    ['0x10', 16],
    ['True', true],
    ['false', false],
    ['None', null],
    ['"muon"', 'muon'],
    ["'it\\'s'", "it's"],
    ['r"a"', 'a'],
    ['(0.9, 0.95)', [0.9, 0.95]],
    ['[1, "a", None,]', [1, 'a', null]],
    ['[]', []],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual({ value, end: text.length })
  })

  test.each([
    'x',
    'f"{x}"',
    'int(3)',
    '[a, 1]',
    '[[1], [2]]',
    '1/0',
    '10**400',
    'Trueish',
    '3px',
    '`\u0024{a}`',
    '',
    '(',
  ])('%s is no literal', text => {
    expect(read(text)).toBeNull()
  })

  test('stops before what it cannot read, so that the caller sees it', () => {
    expect(read('3 * x')).toEqual({ value: 3, end: 1 })
    expect(read('7 // 2', false)).toEqual({ value: 7, end: 1 })
  })

  test('arithmetic is computed as its tree says', () => {
    type Expression = { text: string; value: number }
    const { expression } = fc.letrec<{ expression: Expression }>(tie => ({
      expression: fc.oneof(
        { depthSize: 'small' },
        fc.integer({ min: 0, max: 99 }).map(value => ({ text: String(value), value })),
        fc.tuple(tie('expression'), fc.constantFrom('+', '-', '*'), tie('expression')).map(([a, operator, b]) => ({
          text: `(${a.text} ${operator} ${b.text})`,
          value: operator === '+' ? a.value + b.value : operator === '-' ? a.value - b.value : a.value * b.value,
        })),
        tie('expression').map(({ text, value }) => ({ text: `-${text}`, value: -value })),
      ),
    }))
    fc.assert(
      fc.property(expression, ({ text, value }) => {
        const reading = read(text)!
        expect(reading.end).toBe(text.length)
        expect(reading.value).toBeCloseTo(value, 0)
      }),
    )
  })
})
