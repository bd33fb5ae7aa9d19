import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LineRow, type LineStep, rowsOfLine } from './git-line.ts'
import { readMessage } from './git-message.ts'
import type { Measurement } from './git-metric.ts'
import { isPrintedAlike } from './git-value.ts'

const measurement = fc.record({
  kind: fc.constantFrom('finished' as const, 'finished' as const, 'crashed' as const),
  value: fc.integer({ min: 0, max: 5 }),
  place: fc.constantFrom('message', 'results.json'),
  isDiscarded: fc.boolean(),
  isBaseline: fc.constantFrom(false, false, false, true),
})

/** Few states and few messages, so that much is taken back and much is said twice. */
const steps = fc
  .array(
    fc.record({
      code: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      isMerge: fc.constantFrom(false, false, false, true),
      message: fc.constantFrom(
        'try',
        'again',
        'discard: it',
        'Revert "try"',
        'This reverts commit 3',
        'This reverts commit 5',
      ),
      measurement: fc.option(measurement),
    }),
    { maxLength: 14 },
  )
  .map(list =>
    list.map(({ code, isMerge, message, measurement: found }, at): LineStep => {
      const said = found === null ? null : { ...found, reason: null, metrics: {}, status: null }
      const reverted = /commit (\d)/.exec(message)?.[1]
      return {
        commit: String(at).padEnd(40, 'f'),
        isMerge,
        message: { ...readMessage(message), ...(reverted ? { reverts: { hash: reverted, subject: null } } : {}) },
        code,
        touches: at > 0 && list[at - 1]!.code === code ? 'results' : 'code',
        measurement:
          said === null ? null : ({ ...said, value: said.kind === 'finished' ? said.value : null } as Measurement),
      }
    }),
  )

test('every commit is a change, a result, or left out with one reason; a row stands on one that finished before it', () => {
  fc.assert(
    fc.property(steps, line => {
      const { rows, leftOut } = rowsOfLine(line, 'loss')
      const used = new Set(rows.flatMap(row => [row.at, row.code]))
      const reasons = leftOut.map(({ at }) => at)
      expect([...used, ...reasons].sort((a, b) => a - b)).toEqual([...line.keys()])
      const seen = new Set<LineRow>()
      for (const row of rows) {
        if (row.against !== null) {
          expect(seen.has(row.against)).toBe(true)
          expect(row.against.measurement.kind).toBe('finished')
          expect(row.against.code).toBeLessThanOrEqual(row.code)
        }
        if (row.isReference) {
          expect(row.measurement.kind).toBe('finished')
          if (row.against !== null) expect(line[row.at]!.code).toBe(line[row.against.code]!.code)
        } else {
          // A change changes something.
          expect(row.against).not.toBeNull()
          expect(line[row.code]!.code).not.toBe(line[row.against!.code]!.code)
          expect(row.changes.length).toBeGreaterThan(0)
        }
        seen.add(row)
      }
    }),
    { numRuns: 2000 },
  )
})

test.each([
  [0.9931, 0.993, true],
  [0.9931, 0.9926, false],
  [1.92, 1.919606, true],
  [1e-7, 1.2e-7, true],
  [1e-7, 1.6e-7, false],
  [30, 29, false],
])('%d and %d: printed alike is %s', (a, b, expected) => {
  expect(isPrintedAlike(a, b)).toBe(expected)
  expect(isPrintedAlike(b, a)).toBe(expected)
})
