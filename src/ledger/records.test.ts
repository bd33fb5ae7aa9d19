import { expect, test } from 'vitest'
import { familyId as familyIdOf } from '../experiment/environment.ts'
import { claimant, family, intervention, outcome, reference, tiny } from './fixtures/tiny.ts'

test('records come with environment, runs, gain and verdict, in order of creation', async () => {
  await using given = await tiny()
  const { ledger, familyId, version } = given
  const referenceId = await ledger.ensureReference(version.id)
  const imported = (interventionId: number, losses: number[]) =>
    ledger.importRuns(
      losses.map((loss, seed) => ({ interventionId, seed, attempt: 0, outcome: outcome('finished', loss) })),
    )
  await imported(referenceId, [1, 1.01, 0.99])
  const better = await ledger.ensureIntervention(version.id, 'b', intervention(0.2))
  const worse = await ledger.ensureIntervention(version.id, 'w', intervention(9))
  await ledger.ensureIntervention(version.id, 'never run', intervention(7))
  await imported(worse.id, [2, 2.01])
  await imported(better.id, [0.5, 0.51])
  await ledger.claimRun({ interventionId: better.id, seed: 7, attempt: 0, folder: 'f', claimant })

  const records = await ledger.recordsOf()
  expect(records.map(({ id, verdict, outcome }) => ({ id, verdict, outcome }))).toEqual([
    { id: better.id, verdict: 'better', outcome: 'finished' },
    { id: worse.id, verdict: 'worse', outcome: 'finished' },
  ])
  expect(records[0]!.environment).toEqual({ family, familyId, version })
  expect(records[0]!.runs.map(({ outcome }) => outcome?.metrics['loss'])).toEqual([0.5, 0.51, undefined])
  expect(records[0]!.changes).toEqual([{ option: 'rate', from: 0.1, to: 0.2 }])
  expect(records[0]!.measured!.gain).toBeCloseTo(0.495, 12)
  expect(await ledger.recordsOf({ withoutRuns: true })).toHaveLength(3)
  const { references } = await ledger.recordsAndReferencesOf()
  expect(references.map(({ id, versionId, runs }) => ({ id, versionId, runs: runs.length }))).toEqual([
    { id: referenceId, versionId: version.id, runs: 3 },
  ])
})

test('records are found by family and by version', async () => {
  await using given = await tiny()
  const { ledger, familyId, version } = given
  const next = await ledger.ensureVersion(familyId, reference(0.2))
  const otherFamily = { ...family, name: 'other' }
  const otherVersion = await ledger.ensureVersion(await ledger.ensureFamily(otherFamily), reference(0.1))
  for (const { id } of [version, next, otherVersion]) {
    const stored = await ledger.ensureIntervention(id, 'h', intervention(0.4))
    await ledger.importRuns([{ interventionId: stored.id, seed: 0, attempt: 0, outcome: outcome('crashed') }])
  }
  const versionsOf = async (filter: Parameters<typeof ledger.recordsOf>[0]) =>
    (await ledger.recordsOf(filter)).map(record => record.environment.version.id)
  expect(await versionsOf({})).toEqual([version.id, next.id, otherVersion.id])
  expect(await versionsOf({ familyIds: [familyId] })).toEqual([version.id, next.id])
  expect(await versionsOf({ familyIds: [familyIdOf(otherFamily)] })).toEqual([otherVersion.id])
  expect(await versionsOf({ versionIds: [next.id] })).toEqual([next.id])
  expect(await versionsOf({ familyIds: [] })).toEqual([])
  const many = Array.from({ length: 40_000 }, (_, number) => `version ${number}`)
  expect(await versionsOf({ versionIds: [next.id, ...many] })).toEqual([next.id])
})

test('a hundred thousand runs go in and come back', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const interventions = 20_000
  const seeds = 5
  await ledger.transaction(async ledger => {
    const runs: Parameters<typeof ledger.importRuns>[0][number][] = []
    for (let i = 0; i < interventions; i++) {
      const { id } = await ledger.ensureIntervention(version.id, `${i}`, intervention(i + 1))
      for (let seed = 0; seed < seeds; seed++) {
        runs.push({ interventionId: id, seed, attempt: 0, outcome: outcome('finished', i + seed) })
      }
    }
    const ids = await ledger.importRuns(runs)
    expect(new Set(ids).size).toBe(interventions * seeds)
    expect(ids).not.toContain(null)
  })
  const records = await ledger.recordsOf()
  expect(records).toHaveLength(interventions)
  for (const [i, record] of records.entries()) {
    expect(record.intervention.overrides).toEqual({ rate: i + 1 })
    expect(record.runs.map(({ outcome }) => outcome!.metrics['loss'])).toEqual([i, i + 1, i + 2, i + 3, i + 4])
  }
})
