import { expect, test } from 'vitest'
import type { Run } from '../experiment/intervention.ts'
import { buildRecords, type InterventionWithRuns } from '../experiment/records.ts'
import { knownBefore } from './known-before.ts'
import { environmentOf } from './planted/records.ts'

const environment = environmentOf('repeated', {})
const versionId = environment.version.id
const environments = new Map([[versionId, environment]])

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

function row(id: number, kind: 'reference' | 'candidate', runs: Run[]): InterventionWithRuns {
  const intervention = { sentence: `idea ${id}`, overrides: null, diff: null, tags: [], origin: null }
  return { id, versionId, kind, intervention, runs }
}

/** The reference at 1.0; an idea with runs 3 and 6, a crash that was tried again, and one that came later. */
function rowsWith(seedOf: (seed: number) => number): InterventionWithRuns[] {
  return [
    row(1, 'reference', [run(1, 1, seedOf(0), 1)]),
    row(2, 'candidate', [run(3, 2, seedOf(0), 0.9), run(6, 2, seedOf(1), 0.5)]),
    row(3, 'candidate', [run(4, 3, seedOf(0), null), run(7, 3, seedOf(1), 0.8)]),
    row(4, 'candidate', [run(5, 4, seedOf(0), 0.7)]),
  ]
}

test('an idea that was repeated later is known by its earlier runs alone', () => {
  for (const seedOf of [(seed: number) => seed, (seed: number) => -1 - seed]) {
    const rows = rowsWith(seedOf)
    const records = buildRecords(environments, rows)
    expect(records.map(({ measured }) => measured!.gain)).toEqual([
      0.30000000000000004, 0.19999999999999996, 0.30000000000000004,
    ])
    const [repeated, crashed, ...more] = knownBefore(records.slice(0, 2), records.slice(2), rows.slice(0, 1))
    expect(more).toEqual([])
    expect(repeated!.measured!.gain).toBeCloseTo(0.1, 12)
    expect(repeated!.runs.map(({ id }) => id)).toEqual([3])
    expect(crashed!.measured).toBeNull()
    expect(crashed!.outcome).toBe('crashed')
  }
})

test('nor do later runs reach it by the reference, by the noise of a version, or by a verdict', () => {
  const early = [
    row(1, 'reference', [run(1, 1, 0, 1), run(2, 1, 1, 1.02)]),
    row(2, 'candidate', [run(3, 2, 0, 0.9), run(4, 2, 1, 0.93)]),
    row(3, 'candidate', [run(5, 3, 0, 0.8)]),
  ]
  // The reference again, and a far-off repeat of the row that is asked for.
  const late = [
    { ...early[0]!, runs: [...early[0]!.runs, run(7, 1, 2, 1.5)] },
    ...early.slice(1),
    row(4, 'candidate', [run(6, 4, 0, 0.7), run(8, 4, 1, 0.3)]),
  ]
  const records = buildRecords(environments, late)
  const known = knownBefore(records.slice(0, 2), records.slice(2), late.slice(0, 1))
  const then = buildRecords(environments, early)
  const plain = ({ measured, verdict, outcome }: (typeof then)[number]) => ({ measured, verdict, outcome })
  expect(known.map(plain)).toEqual(then.map(plain))
  expect(then[0]!.measured!.standardError).not.toBe(records[0]!.measured!.standardError)
  expect(known[0]!.intervention).toBe(records[0]!.intervention)
})

test('what had not begun is not known, and what did not change is the same record', () => {
  const rows = rowsWith(seed => seed)
  const records = buildRecords(environments, rows)
  const references = rows.slice(0, 1)
  expect(knownBefore([records[2]!], [records[0]!], references)).toEqual([])
  const afterwards = [{ ...records[0]!, runs: [run(9, 2, 0, 1)] }]
  const all = knownBefore(records, afterwards, references)
  for (const [index, record] of records.entries()) expect(all[index]).toBe(record)
})

test('a later half of any length is compared with', () => {
  const rows = rowsWith(seed => seed)
  const records = buildRecords(environments, rows)
  const [, , last] = records
  const later = Array.from({ length: 300_000 }, () => last!)
  expect(knownBefore(records.slice(0, 2), later, rows.slice(0, 1))).toEqual(
    knownBefore(records.slice(0, 2), [last!], rows.slice(0, 1)),
  )
})
