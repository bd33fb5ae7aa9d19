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
  expect((await ledger.latestForecasts(version.id)).get(id)).toEqual(second)
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
  const used = { versionId: version.id, interventionId: id, runId: runId!, line: 2, text: '…' }
  const unusable = { reason: 'The status "maybe" is not known.', line: 3, text: 'maybe' }
  expect(await ledger.recordImport('a%b_/2', used)).toBe(true)
  expect(await ledger.recordImport('a%b_/3', unusable)).toBe(true)
  expect(await ledger.recordImport('a%b_/3', used)).toBe(false)
  await ledger.recordImport('axbx/2', unusable)
  expect([...(await ledger.importedRows('a%b_/'))]).toEqual([
    ['a%b_/2', used],
    ['a%b_/3', unusable],
  ])
})
