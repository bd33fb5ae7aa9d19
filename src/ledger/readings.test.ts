/** A reading is withdrawn as a whole: what it brought can come again, and nothing else about it changes. */
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { forecast, intervention, outcome, tiny } from './fixtures/tiny.ts'

test('what a withdrawn reading brought is in no list, and comes again under its keys as something new', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const reading = () =>
    ledger.storeReading({ familyId: version.familyId, place: 'p', source: 'results.tsv', definition: { flags: {} } })
  const bring = async (readingId: number) => {
    const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
    const reference = await ledger.ensureReference(version.id)
    const runs = [id, reference].map(interventionId => ({
      interventionId,
      seed: -1,
      attempt: 0,
      outcome: outcome('finished', 1),
    }))
    const [runId, ofReference] = await ledger.importRuns(runs)
    const row = { versionId: version.id, interventionId: id, runId: runId!, place: 'line 2', text: null }
    await ledger.recordImports([['k', row]], readingId)
    await ledger.recordImports([['r', { ...row, interventionId: reference, runId: ofReference! }]], readingId)
    return id
  }
  const first = await reading()
  const old = await bring(first)
  expect([await ledger.countRunsOfReading(first), await ledger.countRowsOfReadings([first])]).toEqual([2, 2])
  expect(await ledger.readings()).toMatchObject([{ id: first, place: 'p', definition: { flags: {} } }])
  expect((await ledger.recordsOf()).map(({ id }) => id)).toEqual([old])

  await ledger.withdrawReadings([first])
  await ledger.withdrawReadings([first])
  expect(await ledger.readings()).toEqual([])
  expect(await ledger.recordsOf({ withoutRuns: true })).toEqual([])
  expect([await ledger.runsOf(old), await ledger.candidatesWithHash(version.familyId, ['h'])]).toEqual([[], []])
  expect(await ledger.importedRowsOf(['k', 'r'])).toEqual(new Map())

  const again = await bring(await reading())
  expect(again).toBeGreaterThan(old)
  const [record] = await ledger.recordsOf()
  expect(record).toMatchObject({ id: again, runs: [{ seed: -1, attempt: 0 }] })
  const reference = await ledger.runsOf(await ledger.ensureReference(version.id))
  expect(reference).toMatchObject([{ seed: -1, attempt: 1 }])
})

test('a run of our own, or of another source, keeps what a withdrawn reading also measured', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  const readingId = await ledger.storeReading({ familyId: version.familyId, place: 'p', source: 's', definition: {} })
  const runs = [-1, -2].map(seed => ({ interventionId: id, seed, attempt: 0, outcome: outcome('finished', 1) }))
  const [withdrawn, kept] = await ledger.importRuns(runs)
  const row = { versionId: version.id, interventionId: id, runId: withdrawn!, place: null, text: null }
  await ledger.recordImports([['k', row]], readingId)
  await ledger.withdrawReadings([readingId])
  expect(await ledger.recordsOf()).toMatchObject([{ id, runs: [{ id: kept }] }])
  expect(await ledger.ensureIntervention(version.id, 'h', intervention(0.3))).toEqual({ id, created: false })
})

test('a candidate of which a forecast speaks stays what was written down, and not run', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  await ledger.storeForecast(id, forecast(0.1))
  const [runId] = await ledger.importRuns([
    { interventionId: id, seed: -1, attempt: 0, outcome: outcome('finished', 1) },
  ])
  const readingId = await ledger.storeReading({ familyId: version.familyId, place: 'p', source: 's', definition: {} })
  const row = { versionId: version.id, interventionId: id, runId: runId!, place: null, text: null }
  await ledger.recordImports([['k', row]], readingId)
  await ledger.withdrawReadings([readingId])
  expect(await ledger.recordsOf()).toEqual([])
  expect(await ledger.intervention(id)).toMatchObject({ hash: 'h' })
  expect(await ledger.recordsOf({ withoutRuns: true })).toMatchObject([{ id, runs: [] }])
})

test('nothing of it can be changed or deleted otherwise', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  const [runId] = await ledger.importRuns([
    { interventionId: id, seed: -1, attempt: 0, outcome: outcome('finished', 1) },
  ])
  const readingId = await ledger.storeReading({ familyId: version.familyId, place: 'p', source: 's', definition: {} })
  const row = { versionId: version.id, interventionId: id, runId: runId!, place: 'line 2', text: null }
  await ledger.recordImports([['k', row]], readingId)
  const raw = new DatabaseSync(ledger.path)
  const rename = `update imports set source_key = 'withdrawn ${readingId} k'`
  const giveUp = `update interventions set hash = 'withdrawn ${id} h' where id = ${id}`
  for (const [statement, table] of [
    [rename, 'imports'],
    [giveUp, 'interventions'],
    [`update readings set place = 'q', withdrawn_at = 'now'`, 'readings'],
    ['delete from readings', 'readings'],
    [`update versions set reference = '{}'`, 'versions'],
  ] as const) {
    expect(() => raw.exec(statement)).toThrow(`rows of ${table} are final`)
  }
  await ledger.withdrawReadings([readingId])
  for (const [statement, table] of [
    [`update imports set place = 'there'`, 'imports'],
    [`update interventions set sentence = 'another' where id = ${id}`, 'interventions'],
    ['update readings set withdrawn_at = null', 'readings'],
    ['delete from withdrawn_runs', 'withdrawn_runs'],
    [`update versions set created_at = 'then'`, 'versions'],
  ] as const) {
    expect(() => raw.exec(statement)).toThrow(`rows of ${table} are final`)
  }
  raw.close()
})
