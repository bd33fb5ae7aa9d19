import { expect, test } from 'vitest'
import type { ExperimentRecord } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import { ideaHalves, randomHalves } from './halves.ts'
import { plantedRecords } from './planted/response-surface.ts'

const records = plantedRecords('olmo', 31, seededRandom(1))

test('halves are disjoint and complete; of ideas, no near-duplicate is on both sides', () => {
  for (const halves of [randomHalves, ideaHalves]) {
    for (const seed of [1, 2, 3]) {
      const [first, second] = halves(records, seededRandom(seed))
      expect(new Set([...first, ...second]).size).toBe(records.length)
      expect(first.length + second.length).toBe(records.length)
      expect(Math.abs(first.length - second.length)).toBeLessThanOrEqual(halves === ideaHalves ? 12 : 1)
      if (halves === ideaHalves) expect([...ideasOf(first)].filter(idea => ideasOf(second).has(idea))).toEqual([])
    }
  }
})

function ideasOf(side: readonly ExperimentRecord[]): Set<string> {
  return new Set(
    side.map(({ changes }) =>
      changes
        .map(({ option }) => option)
        .sort()
        .join(),
    ),
  )
}
