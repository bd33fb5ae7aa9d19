/** What holds for tables and records whatever stands in them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDelimited } from './delimited.ts'
import { jsonRecords } from './json-records.ts'
import { withoutPersonal } from './personal.ts'
import { recordTable } from './record-table.ts'
import { tableHistories } from './table-history.ts'

const lineOf = ({ place }: { readonly place: string }) => Number(place.replace('line ', ''))
const word = fc.oneof(
  fc.constantFrom('keep', 'discard', 'baseline', 'crash', 'pending', 'lab', 'field', '', 'NaN', '1e-3', 'alice@x.org'),
  fc.string({ maxLength: 10, unit: 'grapheme' }),
)
const value = fc.oneof(
  word,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(word, { maxLength: 2 }),
)
const names = [
  'commit',
  'tier',
  'status',
  'description',
  'val_bpb',
  'seed',
  'note',
  'hypothesis',
  '__proto__',
  'a.b',
  '',
]
const record = fc.dictionary(
  fc.constantFrom(...names, 'params', 'metrics'),
  fc.oneof(value, fc.dictionary(fc.constantFrom('lr', 'x', 'status'), value, { noNullPrototype: true })),
  { noNullPrototype: true },
)

test('every record is used or listed with a reason, once, in one of the environments', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 10 }), records => {
      const all = [{ val_bpb: 1, description: 'baseline', tier: 'lab' }, ...records]
      const text = all.map(each => JSON.stringify(each)).join('\n')
      const table = recordTable(() => jsonRecords(text), 'log.jsonl')
      const read = tableHistories(table, { metric: { name: 'val_bpb', direction: 'minimize' } })
      const histories = read.map(history => withoutPersonal(history))
      const places = histories.flatMap(({ rows, unusable }) => [...rows, ...unusable].map(lineOf))
      expect(places.sort((a, b) => a - b)).toEqual(all.map((_, index) => index + 1))
      expect(new Set(histories.map(({ name }) => name)).size).toBe(histories.length)
      for (const { rows } of histories) {
        if (histories.length > 1) expect(rows.length).toBeGreaterThan(0)
        rows.forEach(({ against }, index) => {
          if (against === null) return
          const before = rows.findIndex(({ key }) => key === against)
          expect(before).toBeGreaterThanOrEqual(0)
          expect(before).toBeLessThan(index)
        })
        expect(JSON.stringify(rows.map(({ intervention, note }) => [intervention, note]))).not.toContain('alice@x.org')
      }
    }),
  )
})

test('a CSV as RFC 4180 has it comes back cell by cell, whatever stands in the cells', () => {
  const cell = fc.string({ maxLength: 8, unit: fc.constantFrom('a', ' ', '"', ',', '\n', '\r\n', ';', '1', 'é') })
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 }), rows => {
      const text = rows.map(cells => cells.map(quoted).join(',')).join('\r\n')
      expect(readDelimited(text, ',').map(({ cells }) => cells)).toEqual(
        rows.map(cells => cells.map(each => each.trim())),
      )
    }),
  )
})

test('no text makes a reader of CSV lose its way: lines go on, and cells have no separators of their own', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ') })
  fc.assert(
    fc.property(text, text => {
      const lines = readDelimited(text, ',')
      lines.forEach((each, index) => {
        if (index > 0) expect(each.line).toBeGreaterThan(lines[index - 1]!.line)
        expect(text).toContain(each.text)
      })
    }),
  )
})
