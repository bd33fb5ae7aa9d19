import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../experiment/json.ts'
import { readPythonScalar, readPythonValue } from './python-value.ts'

/** A value as Python's repr() prints it. */
function printed(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'"
    const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\0', '\\x00')
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote
  }
  if (Array.isArray(value))
    return value.length === 1 ? `(${printed(value[0]!)},)` : `[${value.map(printed).join(', ')}]`
  return `{${Object.entries(value)
    .map(([key, member]) => `${printed(key)}: ${printed(member)}`)
    .join(', ')}}`
}

const value = fc
  .letrec<{ value: Json }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, false),
      fc.maxSafeInteger(),
      // Beyond those, an integer stays text.
      fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }).map(number => number + 0),
      fc.string({ unit: 'binary' }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
    ),
  }))
  .value.filter(each => typeof each === 'object' && each !== null)

describe('values as Python prints them', () => {
  test('are read back', () => {
    fc.assert(
      fc.property(value, each => {
        expect(readPythonValue(printed(each))).toEqual(each)
      }),
    )
  })

  test('and JSON as well', () => {
    fc.assert(
      fc.property(value, each => {
        expect(readPythonValue(JSON.stringify(each))).toEqual(each)
      }),
    )
  })

  test.each<[string, Json]>([
    ["{'a': nan, 'b': -inf}", { a: 'nan', b: '-inf' }],
    ["{1: 'a', (2, 3): 'b'}", { 1: 'a', '[2,3]': 'b' }],
    ["{'x', 'y'}", ['x', 'y']],
    ["[u'é', b'\\x41', r'\\'']", ['é', 'A', "'"]],
    ["{'t': <Table at 0x7f, {1: ']'}>, 'n': 1}", { t: "<Table at 0x7f, {1: ']'}>", n: 1 }],
    ["[PosixPath('a, b'), array([1, 2]), torch.float32]", ["PosixPath('a, b')", 'array([1, 2])', 'torch.float32']],
    ['[007, 12345678901234567890, 1_000]', ['007', '12345678901234567890', '1_000']],
  ])('%s', (text, expected) => {
    expect(readPythonValue(text)).toEqual(expected)
  })

  test.each(['', 'adam', "{'a': ", "{'a': 1} and more", '[1, 2', "['a]", '[1 2'.repeat(2), '['.repeat(10_000)])(
    'what is no whole literal is none: %s',
    text => {
      expect(readPythonValue(text)).toBeUndefined()
    },
  )

  test.each<[string, Json]>([
    ['0.1', 0.1],
    ['1e-05', 0.00001],
    ['-3', -3],
    ['5.', 5],
    ['True', true],
    ['None', null],
    ['[1, 2]', [1, 2]],
    ['007', '007'],
    ['1e999', '1e999'],
    ['12345678901234567890', '12345678901234567890'],
    ['0x1f', '0x1f'],
    ['3-4', '3-4'],
    ['nan', 'nan'],
    [' a text ', ' a text '],
    ['', ''],
  ])('a parameter %j', (text, expected) => {
    expect(readPythonScalar(text)).toEqual(expected)
  })
})
