import { expect, test } from 'vitest'
import { hanging, wrap } from './wrap.ts'

test('lines end at spaces and fit, line feeds and the first indentation stay, and what has no space stays whole', () => {
  expect(wrap('  one two three four\nfive', 12, '    ')).toBe('  one two\n    three\n    four\nfive')
  expect(wrap('see https://example.org/a/long/address here', 10)).toBe('see\nhttps://example.org/a/long/address\nhere')
  expect(wrap('', 10)).toBe('')
  const lines = wrap('word '.repeat(60), 1000).split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toHaveLength(99)
  // Wide characters take two columns.
  expect(wrap('実験 実験 実験', 9)).toBe('実験 実験\n実験')
})

test('beside a label further lines stand below the beginning of the text, and the label keeps its padding', () => {
  expect(hanging('  new rows    ', '1 reference,\n2 kept')).toEqual(['  new rows    1 reference, 2 kept'])
  const [first, second, ...others] = hanging('  実験  ', 'word '.repeat(20))
  expect(first).toBe(`  実験  ${Array(18).fill('word').join(' ')}`)
  expect(second).toBe(`${' '.repeat(8)}word word`)
  expect(others).toEqual([])
})
