import { expect, test } from 'vitest'
import { wrap } from './wrap.ts'

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
