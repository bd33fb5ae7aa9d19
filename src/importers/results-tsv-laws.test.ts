import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readResultsTsv } from './results-tsv.ts'
import { readTable } from './table.ts'

const cell = fc.oneof(
  fc.constantFrom(
    'keep',
    'KEEP',
    'discard',
    'crash',
    'baseline',
    'invalid',
    'pending',
    'whatever',
    'N/A',
    '',
    'nocommit',
  ),
  fc.constantFrom('0.97', '0.000000', 'nan', '1e-3', '12', 'abc1234', '"', 'a "quoted" word', '5" disk', '\\t', '#'),
  fc.string({ maxLength: 12 }).map(text => text.replaceAll(/[\t\r\n]/g, ' ')),
)
const row = fc.oneof(fc.tuple(cell, cell, cell, cell, cell), fc.array(cell, { minLength: 1, maxLength: 8 }))
const header = 'commit\tval_bpb\tmemory_gb\tstatus\tdescription'
const log = fc
  .array(row, { maxLength: 12 })
  .map(rows => `${[header, ...rows.map(cells => cells.join('\t'))].join('\n')}\n`)
const read = (text: string) =>
  readResultsTsv(text, 'results.tsv', { metric: { name: 'val_bpb', direction: 'minimize' } })

test('every row is used or listed with a reason, once, whatever stands in it', () => {
  fc.assert(
    fc.property(log, text => {
      const { rows, unusable } = read(text)
      const lines = [...rows, ...unusable].map(({ place }) => Number(place.slice(5))).sort((a, b) => a - b)
      expect(lines).toEqual(
        readTable(text)
          .slice(1)
          .map(({ line }) => line),
      )
      for (const { reason } of unusable) expect(reason).not.toBe('')
    }),
  )
})

test('keys are unique, and every row is tried on an earlier row that was kept or a reference', () => {
  fc.assert(
    fc.property(log, text => {
      const { rows, unusable } = read(text)
      expect(new Set([...rows, ...unusable].map(({ key }) => key)).size).toBe(rows.length + unusable.length)
      rows.forEach(({ against }, index) => {
        if (against === null) return
        const before = rows.findIndex(({ key }) => key === against)
        expect(before).toBeGreaterThanOrEqual(0)
        expect(before).toBeLessThan(index)
        expect(rows[before]!.role).not.toBe('tried')
      })
    }),
  )
})

test('a number is there exactly when a run finished, or broke a limit', () => {
  fc.assert(
    fc.property(log, text => {
      for (const { outcome } of read(text).rows) {
        if (outcome.kind === 'finished') expect(outcome.metrics['val_bpb']).toEqual(expect.any(Number))
        else if (outcome.kind !== 'violated') expect(outcome.metrics).toEqual({})
        expect(outcome.reason === null).toBe(outcome.kind === 'finished')
      }
    }),
  )
})
