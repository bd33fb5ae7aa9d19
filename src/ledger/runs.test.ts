import { expect, test } from 'vitest'
import { claimant, intervention, outcome, tiny } from './fixtures/tiny.ts'

async function withIntervention() {
  const given = await tiny()
  const { id } = await given.ledger.ensureIntervention(given.version.id, 'h', intervention(0.2))
  return {
    ...given,
    key: (seed: number, attempt = 0) => ({ interventionId: id, seed, attempt, folder: 'f', claimant }),
  }
}

test('a key is claimed once', async () => {
  await using given = await withIntervention()
  const { ledger, key, version } = given
  const run = await ledger.claimRun(key(0))
  expect(run).toMatchObject({ versionId: version.id, seed: 0, attempt: 0, outcome: null, folder: 'f', claimant })
  expect(await ledger.claimRun(key(0))).toBeNull()
  expect(await ledger.claimRun(key(1))).not.toBeNull()
})

test('a second attempt waits for the first to end, and is given only when that says nothing about the idea', async () => {
  await using given = await withIntervention()
  const { ledger, key } = given
  const first = (await ledger.claimRun(key(0)))!
  expect(await ledger.claimRun(key(0, 1))).toBeNull()
  await ledger.writeOutcome(first.id, outcome('infrastructure'))
  const second = (await ledger.claimRun(key(0, 1)))!
  expect(second.attempt).toBe(1)
  await ledger.writeOutcome(second.id, outcome('crashed'))
  expect(await ledger.claimRun(key(0, 2))).toBeNull()
})

test('an outcome is written once, and comes back as it was', async () => {
  await using given = await withIntervention()
  const { ledger, key } = given
  const run = (await ledger.claimRun(key(0)))!
  expect((await ledger.openRuns()).map(({ id }) => id)).toEqual([run.id])
  const violated = { ...outcome('violated', 0.25), cost: 0.125, exitCode: null }
  expect(await ledger.writeOutcome(run.id, violated)).toBe(true)
  expect(await ledger.writeOutcome(run.id, outcome('finished', 9))).toBe(false)
  expect((await ledger.run(run.id))!.outcome).toEqual(violated)
  expect(await ledger.openRuns()).toEqual([])
})

test('imported runs have no folder and no claimant; importing a key again gives null and changes nothing', async () => {
  await using given = await withIntervention()
  const { ledger, key } = given
  const { interventionId } = key(0)
  const rows = [0, 1, 1].map((seed, index) => ({
    interventionId,
    seed,
    attempt: 0,
    outcome: outcome('finished', index),
  }))
  const [a, b, twice] = await ledger.importRuns(rows)
  expect([typeof a, typeof b, twice]).toEqual(['number', 'number', null])
  expect(await ledger.importRuns(rows)).toEqual([null, null, null])
  expect(await ledger.importRuns([])).toEqual([])
  const runs = await ledger.runsOf(interventionId)
  expect(runs.map(({ outcome }) => outcome!.metrics['loss'])).toEqual([0, 1])
  expect(runs[0]).toMatchObject({ folder: null, claimant: null, claimedAt: '2026-11-29T12:00:00.000Z' })
})

test("a campaign's runs are those it claimed", async () => {
  await using given = await withIntervention()
  const { ledger, key, familyId, version } = given
  const campaign = await ledger.createCampaign({ familyId, versionId: version.id, definition: {}, claimant })
  const paid = (await ledger.claimRun({ ...key(0), campaignId: campaign.id }))!
  await ledger.claimRun(key(1))
  expect((await ledger.runsOfCampaign(campaign.id)).map(({ id }) => id)).toEqual([paid.id])
})
