import { describe, expect, test } from 'vitest'
import { type Environment, type Family, familyId, versionId } from './environment.ts'
import type { Outcome, OutcomeKind, Run } from './intervention.ts'
import { buildRecords, type InterventionWithRuns } from './records.ts'

const family: Family = {
  name: 'test',
  description: '',
  metrics: [{ name: 'bpb', direction: 'minimize' }],
  constraints: [],
  command: null,
  budget: {},
  evaluator: {},
  data: [],
}
const reference = { configuration: { rate: 0.1 }, commit: null, tree: null, code: null }
const id = versionId(familyId(family), reference)
const version = { id, familyId: familyId(family), reference, parent: null }
const environments = new Map<string, Environment>([[id, { family, familyId: familyId(family), version }]])

let nextRun = 0
function run(seed: number, kind: OutcomeKind | null, bpb?: number, attempt = 0): Run {
  const outcome: Outcome | null = kind && {
    kind,
    reason: null,
    metrics: bpb === undefined ? {} : { bpb },
    exitCode: 0,
    startedAt: null,
    finishedAt: null,
    seconds: null,
    cost: null,
  }
  return { id: nextRun++, versionId: id, interventionId: 0, seed, attempt, outcome }
}
function row(id_: number, runs: Run[], kind: 'reference' | 'candidate' = 'candidate'): InterventionWithRuns {
  const intervention = { sentence: 's', overrides: { rate: 0.2 }, diff: null, tags: [], origin: null }
  return { id: id_, versionId: id, kind, intervention, runs }
}
const measuredReference = row(
  1,
  [run(0, 'finished', 1), run(1, 'finished', 1.01), run(2, 'finished', 0.99)],
  'reference',
)

describe('buildRecords', () => {
  test('measures candidates against the reference and leaves the reference out', () => {
    const [record, ...others] = buildRecords(environments, [
      measuredReference,
      row(2, [run(0, 'finished', 0.8), run(1, 'finished', 0.82)]),
    ])
    expect(others).toEqual([])
    expect(record).toMatchObject({ id: 2, outcome: 'finished', verdict: 'better' })
    expect(record!.measured!.gain).toBeCloseTo(0.19, 12)
    expect(record!.changes).toEqual([{ option: 'rate', from: 0.1, to: 0.2 }])
  })

  test('counts per seed the latest attempt that is evidence', () => {
    const [record] = buildRecords(environments, [
      measuredReference,
      row(2, [
        run(0, 'infrastructure'),
        run(0, 'finished', 0.9, 1),
        run(1, 'crashed'),
        run(2, 'cancelled'),
        run(3, null),
      ]),
    ])
    expect(record!.outcome).toBe('finished')
    expect(record!.measured!.gain).toBeCloseTo(0.1, 12)
    expect(record!.runs).toHaveLength(5)
  })

  test('a failure has no gain and is named by its commonest outcome; a violated run keeps its number and is none', () => {
    const records = buildRecords(environments, [
      measuredReference,
      row(2, [run(0, 'violated', 0.5), run(1, 'violated', 0.5), run(2, 'crashed')]),
      row(3, [run(0, null)]),
      row(4, [run(0, 'infrastructure')]),
    ])
    expect(records.map(({ outcome, measured, verdict }) => ({ outcome, measured, verdict }))).toEqual([
      { outcome: 'violated', measured: null, verdict: 'failed' },
      { outcome: null, measured: null, verdict: null },
      { outcome: null, measured: null, verdict: null },
    ])
    expect(records[0]!.runs[0]!.outcome!.metrics).toEqual({ bpb: 0.5 })
  })

  test('what a log says is compared with the log, and runs of our own with our own', () => {
    const reference = row(1, [run(-1, 'finished', 2), run(1, 'finished', 1), run(2, 'finished', 1.02)], 'reference')
    const logged = row(2, [run(-1, 'finished', 1.9)])
    const repeated = row(3, [run(-1, 'finished', 1.9), run(1, 'finished', 0.91), run(2, 'finished', 0.91)])
    const gains = buildRecords(environments, [reference, logged, repeated]).map(({ measured }) => measured!.gain)
    expect(gains[0]).toBeCloseTo(0.1, 12)
    expect(gains[1]).toBeCloseTo(0.1, 12)
    const [before] = buildRecords(environments, [row(1, [run(-1, 'finished', 2)], 'reference'), logged])
    expect(before!.measured!.gain).toBe(gains[0])
  })

  test('without a measured reference there is no gain, and the verdict is open', () => {
    const candidate = row(2, [run(0, 'finished', 0.8), run(1, 'finished', 0.81)])
    expect(buildRecords(environments, [candidate])[0]).toMatchObject({ measured: null, verdict: 'inconclusive' })
    const once = row(1, [run(0, 'finished', 1)], 'reference')
    expect(buildRecords(environments, [once, candidate])[0]).toMatchObject({ verdict: 'inconclusive' })
  })

  test('an unknown version is an error, not an empty list', () => {
    expect(() => buildRecords(new Map(), [measuredReference])).toThrow('which is not given')
  })
})
