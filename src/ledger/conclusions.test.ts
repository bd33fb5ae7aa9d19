import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { forecast, intervention, outcome, tiny } from './fixtures/tiny.ts'

test('forecasts add up, latest first, and keep every digit', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  await ledger.storeForecast(id, forecast(0.1, [3, 5]))
  await ledger.storeForecast(id, forecast(0.1 + 0.2))
  const [second, first] = await ledger.forecastsOf(id)
  expect(first).toMatchObject({ ...forecast(0.1, [3, 5]), campaignId: null, round: null })
  expect(second!.quantiles[2]).toBe(0.1 + 0.2)
  expect((await ledger.latestForecasts([version.id])).get(id)).toEqual(second)
})

test('what a language model says beside its numbers is kept; a forecast that failed has its reason and no numbers', async () => {
  await using given = await tiny()
  const { ledger, version, path } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  const usage = { requests: 0.5, input: 1000.5, cached: 800, output: 40 }
  const model = { name: 'http://127.0.0.1:8080/v1#m', effort: 'low', usage, cost: null }
  const explanation = { closest: [3], basis: 'mechanism', uncertainty: 'a “doubt”', answers: 2, asked: 3 } as const
  const explained = { ...forecast(0.1, [3, 5]), model, explanation }
  await ledger.storeForecast(id, explained)
  expect((await ledger.forecastsOf(id))[0]).toMatchObject(explained)
  expect((await ledger.latestForecasts([version.id])).get(id)).toMatchObject(explained)

  const failed = { failed: 'twice wrong', forecaster: 'language', forecasterVersion: '1', recordIds: [3], model }
  await ledger.storeFailedForecast(id, failed)
  expect(await ledger.failedForecastsOf({ interventionId: id })).toMatchObject([{ ...failed, interventionId: id }])
  expect(await ledger.failedForecastsOf({ campaignId: 1 })).toEqual([])
  expect(await ledger.forecastsOf(id)).toHaveLength(1)
  const file = new DatabaseSync(path)
  for (const change of ["update failed_forecasts set reason = ''", 'delete from failed_forecasts']) {
    expect(() => file.exec(change)).toThrow('rows of failed_forecasts are final')
  }
  file.exec(
    "insert or replace into failed_forecasts select id, intervention_id, 'x', '', '', '[]', null, null, null, '' from failed_forecasts",
  )
  file.close()
  expect(await ledger.failedForecastsOf({ interventionId: id })).toMatchObject([failed])
})

test('a verdict supersedes the one before it by name; the same again adds nothing', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  const open = { verdict: 'inconclusive', measured: null, runIds: [1] } as const
  const measured = { gain: 0.1, standardError: 0.01, degreesOfFreedom: 5, probabilityBetter: 0.999 }
  const first = await ledger.storeVerdict(id, open)
  expect(await ledger.storeVerdict(id, open)).toBe(first)
  const second = await ledger.storeVerdict(id, { verdict: 'better', measured, runIds: [1, 2] })
  expect(await ledger.verdictsOf(id)).toMatchObject([
    { id: second, verdict: 'better', measured, runIds: [1, 2], supersedes: first },
    { id: first, verdict: 'inconclusive', measured: null, supersedes: null },
  ])
})

test('an import is noted once, used or not', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  const [runId] = await ledger.importRuns([
    { interventionId: id, seed: 0, attempt: 0, outcome: outcome('finished', 1) },
  ])
  const used = { versionId: version.id, interventionId: id, runId: runId!, place: 'line 2', text: '…' }
  const unusable = { reason: 'The status "maybe" is not known.', place: 'run 3f2a', text: 'maybe' }
  expect(await ledger.hasImports('a%b_/')).toBe(false)
  await ledger.recordImports([['a%b_/2', used]])
  await ledger.recordImports([
    ['axbx/2', unusable],
    ['a%b_/2', unusable],
    ['axbx/2', used],
  ])
  expect(await ledger.importedRowsOf(['axbx/2', 'a%b_/2', 'a%b_/9'])).toEqual(
    new Map<string, object>([
      ['axbx/2', { ...unusable, readingId: null }],
      ['a%b_/2', { ...used, readingId: null, meaning: null }],
    ]),
  )
  expect([await ledger.hasImports('a%b_/'), await ledger.hasImports('a%bx/')]).toEqual([true, false])
  expect(await ledger.importsOf([id, 99])).toEqual(new Map([[runId, { place: 'line 2', text: '…' }]]))
})
