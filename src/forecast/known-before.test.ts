import { expect, test } from 'vitest'
import type { Run } from '../experiment/intervention.ts'
import { buildRecords } from '../experiment/records.ts'
import { knownBefore } from './known-before.ts'
import { environmentOf } from './planted/records.ts'

const environment = environmentOf('repeated', {})
const versionId = environment.version.id

function run(id: number, interventionId: number, seed: number, value: number | null): Run {
  const outcome = {
    kind: value === null ? ('crashed' as const) : ('finished' as const),
    reason: null,
    metrics: value === null ? {} : { val_bpb: value },
    exitCode: null,
    startedAt: null,
    finishedAt: null,
    seconds: null,
    cost: null,
  }
  return { id, versionId, interventionId, seed, attempt: 0, outcome }
}

/** The reference at 1.0; an idea with runs 3 and 6, a crash that was tried again, and one that came later. */
function recordsWith(seedOf: (seed: number) => number) {
  const row = (id: number, kind: 'reference' | 'candidate', runs: Run[]) => ({
    id,
    versionId,
    kind,
    intervention: { sentence: `idea ${id}`, overrides: null, diff: null, tags: [], origin: null },
    runs,
  })
  return buildRecords(new Map([[versionId, environment]]), [
    row(1, 'reference', [run(1, 1, seedOf(0), 1)]),
    row(2, 'candidate', [run(3, 2, seedOf(0), 0.9), run(6, 2, seedOf(1), 0.5)]),
    row(3, 'candidate', [run(4, 3, seedOf(0), null), run(7, 3, seedOf(1), 0.8)]),
    row(4, 'candidate', [run(5, 4, seedOf(0), 0.7)]),
  ])
}

test('an idea that was repeated later is known by its earlier runs alone', () => {
  for (const seedOf of [(seed: number) => seed, (seed: number) => -1 - seed]) {
    const records = recordsWith(seedOf)
    expect(records.map(({ measured }) => measured!.gain)).toEqual([
      0.30000000000000004, 0.19999999999999996, 0.30000000000000004,
    ])
    const [repeated, crashed, ...more] = knownBefore(records.slice(0, 2), records.slice(2))
    expect(more).toEqual([])
    expect(repeated!.measured!.gain).toBeCloseTo(0.1, 12)
    expect(repeated!.runs.map(({ id }) => id)).toEqual([3])
    expect(crashed!.measured).toBeNull()
    expect(crashed!.outcome).toBe('crashed')
  }
})

test('what had not begun is not known, and what did not change is the same record', () => {
  const records = recordsWith(seed => seed)
  expect(knownBefore([records[2]!], [records[0]!])).toEqual([])
  expect(knownBefore([records[2]!], [{ ...records[0]!, runs: [run(9, 2, 0, 1)] }])[0]).toBe(records[2])
})
