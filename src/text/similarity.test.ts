import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedLines, diffSimilarity } from './similarity.ts'

function diffOf(before: string[], after: string[], file = 'train.py'): string {
  return createTwoFilesPatch(`a/${file}`, `b/${file}`, `${before.join('\n')}\n`, `${after.join('\n')}\n`)
}

const lines = fc.array(
  fc.constantFrom('x = 1', 'y = 2', '-- note', '++ note', '', '  return x', 'lr = 0.1', '+', '@@ -1 +1 @@'),
  {
    maxLength: 12,
  },
)

test('counts what a diff adds and removes, whatever the lines look like', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const counted = changedLines(diffOf(before, after))
      const balance = new Map<string, number>()
      const tally = (list: string[], by: number) => {
        for (const line of list) {
          const text = line.replaceAll(' ', '')
          if (text !== '') balance.set(text, (balance.get(text) ?? 0) + by)
        }
      }
      tally(before, -1)
      tally(after, 1)
      for (const [text, difference] of balance) {
        expect((counted.get(`+${text}`) ?? 0) - (counted.get(`-${text}`) ?? 0)).toBe(difference)
      }
    }),
  )
})

test('is symmetric, within [0, 1], and 1 for the same diff', () => {
  fc.assert(
    fc.property(lines, lines, lines, (base, one, other) => {
      const a = diffOf(base, one)
      const b = diffOf(base, other)
      expect(diffSimilarity(a, b)).toBe(diffSimilarity(b, a))
      expect(diffSimilarity(a, b)).toBeGreaterThanOrEqual(0)
      expect(diffSimilarity(a, b)).toBeLessThanOrEqual(1)
      expect(diffSimilarity(a, a)).toBe(1)
    }),
  )
})

test('white space, context, position and file names do not count', () => {
  const a = diffOf(['a', 'lr = 0.1', 'b'], ['a', 'lr = 0.2', 'b'])
  const moved = diffOf(['new', 'c', '    lr=0.1', 'd'], ['new', 'c', '    lr=0.2', 'd'], 'other.py')
  expect(a).not.toBe(moved)
  expect(diffSimilarity(a, moved)).toBe(1)
})

test('half of the lines in common is one half, nothing in common is 0', () => {
  const a = diffOf(['lr = 0.1'], ['lr = 0.2'])
  const b = diffOf(['lr = 0.1'], ['lr = 0.3'])
  expect(diffSimilarity(a, b)).toBe(0.5)
  expect(diffSimilarity(a, diffOf(['depth = 4'], ['depth = 8']))).toBe(0)
  expect(diffSimilarity(a, '')).toBe(0)
  expect(diffSimilarity('rename from a', 'rename from b')).toBe(0)
})

test('repeated lines count as often as they occur', () => {
  const once = diffOf([], ['pass'])
  const thrice = diffOf([], ['pass', 'pass', 'pass'])
  expect(diffSimilarity(once, thrice)).toBe(0.5)
})
