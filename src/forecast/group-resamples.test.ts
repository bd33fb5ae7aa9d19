import { expect, test } from 'vitest'
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import { seededRandom } from '../statistics/random.ts'
import { groupResamples } from './group-resamples.ts'
import { plantedRecords } from './planted/response-surface.ts'

const records = [
  ...plantedRecords('nanochat', 30, seededRandom(1)),
  ...plantedRecords('olmo', 30, seededRandom(2), 1001),
]

test('a resample draws near-duplicates together, in both environments, and as many groups as there are', () => {
  const groups = nearDuplicateGroups(records)
  const first = new Map(groups.map((group, index) => [group, records[index]!] as const))
  expect(first.size).toBeLessThan(records.length)
  const resamples = groupResamples(records, 50, 3)
  for (const drawn of resamples) {
    records.forEach((record, index) => {
      expect(drawn(record)).toBe(drawn(first.get(groups[index]!)!))
    })
    expect([...first.values()].reduce((sum, record) => sum + drawn(record), 0)).toBe(first.size)
  }
  const never = resamples.flatMap(drawn => [...first.values()].map(record => drawn(record) === 0))
  // (1 - 1/n)^n of the groups are in no place of a resample: about 0.36.
  expect(never.filter(Boolean).length / never.length).toBeCloseTo(0.36, 1)
})

test('a record that is not drawn again is refused', () => {
  const [drawn] = groupResamples(records.slice(1), 1, 3)
  expect(() => drawn!(records[0]!)).toThrow(`record ${records[0]!.id} is not among those that are drawn again`)
})
