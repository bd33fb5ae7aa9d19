import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Curriculum, rowLengths } from './curriculum.ts'

function lengths(curriculum: Omit<Curriculum, 'batchTokens' | 'tokenBudget'>, steps: number): number[] {
  return rowLengths({ ...curriculum, batchTokens: 512, tokenBudget: 512 * steps + 100 })
}

test('the lengths of twenty steps', () => {
  const base = { curriculumStartLength: 8, curriculumFraction: 0.5, contextLength: 64 }
  const times = (count: number, length: number) => Array(count).fill(length)
  expect(lengths({ ...base, curriculum: 'none' }, 20)).toEqual(times(20, 64))
  expect(lengths({ ...base, curriculum: 'two-stage' }, 20)).toEqual([...times(10, 8), ...times(10, 64)])
  // Along the line from 8 to 64 in ten steps: 8, 13.6, 19.2, 24.8, 30.4, 36, …
  expect(lengths({ ...base, curriculum: 'linear' }, 20)).toEqual([
    ...times(2, 8),
    ...times(3, 16),
    ...times(5, 32),
    ...times(10, 64),
  ])
})

test('begins at the start length, never shrinks, knows few lengths and ends with the whole context', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('linear', 'two-stage'),
      fc.integer({ min: 3, max: 5 }),
      fc.integer({ min: 6, max: 9 }),
      fc.double({ min: 0.05, max: 0.95, noNaN: true }),
      fc.integer({ min: 20, max: 300 }),
      (curriculum, start, context, curriculumFraction, steps) => {
        const [curriculumStartLength, contextLength] = [2 ** start, 2 ** context]
        const all = lengths({ curriculum, curriculumStartLength, curriculumFraction, contextLength }, steps)
        expect(all[0]).toBe(curriculumStartLength)
        expect(all.at(-1)).toBe(contextLength)
        expect(all).toEqual(all.toSorted((a, b) => a - b))
        expect(new Set(all).size).toBeLessThanOrEqual(context - start + 1)
        const shorter = all.filter(length => length < contextLength).length
        expect(Math.abs(shorter - curriculumFraction * steps)).toBeLessThan(1 + 1e-9)
      },
    ),
  )
})
