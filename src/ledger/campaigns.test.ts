import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { claimant, forecast, intervention, tiny } from './fixtures/tiny.ts'
import type { NewRound } from './rounds.ts'

async function withCampaign() {
  const given = await tiny()
  const { familyId, version } = given
  const definition = { choose: 3, budget: { runs: 24 } }
  return {
    ...given,
    campaign: await given.ledger.createCampaign({ familyId, versionId: version.id, definition, claimant }),
  }
}

function roundOf(campaignId: number, round: number, versionId: string): NewRound {
  const candidate = (rate: number, choice: 'exploited' | 'explored' | 'passed-over') => ({
    hash: `rate ${rate}`,
    intervention: intervention(rate),
    forecast: forecast(rate, [1, 2]),
    probability: choice === 'passed-over' ? 0.1 : 0.9,
    choice,
    gated: choice === 'explored' ? 'It is like what failed.' : null,
  })
  return {
    campaignId,
    round,
    versionId,
    candidates: [candidate(0.4, 'passed-over'), candidate(0.2, 'exploited'), candidate(0.3, 'explored')],
    dropped: [{ intervention: intervention(0.1), why: 'It changes nothing.' }],
  }
}

test('a campaign keeps its definition, and its life as events', async () => {
  await using given = await withCampaign()
  const { ledger, campaign, familyId } = given
  expect(campaign).toMatchObject({
    definition: { choose: 3, budget: { runs: 24 } },
    last: { state: 'started', claimant },
  })
  await ledger.endCampaign(campaign.id, 'stopped', 'interrupted')
  const stopped = (await ledger.latestCampaign(familyId))!
  expect(stopped.last).toMatchObject({ state: 'stopped', detail: 'interrupted', claimant: null })
  expect((await ledger.eventsOf(campaign.id)).map(({ state }) => state)).toEqual(['started', 'stopped'])
  expect(await ledger.latestCampaign('another family')).toBeNull()
  expect(await ledger.campaign(999)).toBeNull()
})

test('of several that find a campaign abandoned, one takes it over', async () => {
  await using given = await withCampaign()
  const { ledger, campaign } = given
  const takers = [1, 2, 3, 4].map(pid => ledger.takeCampaign(campaign.id, { pid, started: '1' }, campaign.last.id))
  const taken = await Promise.all(takers)
  expect(taken.filter(Boolean)).toHaveLength(1)
  expect((await ledger.campaign(campaign.id))!.last).toMatchObject({
    state: 'resumed',
    claimant: { pid: 1 + taken.indexOf(true) },
  })
})

test('a round is stored whole: interventions, forecasts, choices and what was dropped', async () => {
  await using given = await withCampaign()
  const { ledger, campaign, version } = given
  const stored = await ledger.storeRound(roundOf(campaign.id, 1, version.id))
  expect(
    stored.candidates.map(({ hash, probability, choice, gated }) => ({ hash, probability, choice, gated })),
  ).toEqual([
    { hash: 'rate 0.4', probability: 0.1, choice: 'passed-over', gated: null },
    { hash: 'rate 0.2', probability: 0.9, choice: 'exploited', gated: null },
    { hash: 'rate 0.3', probability: 0.9, choice: 'explored', gated: 'It is like what failed.' },
  ])
  expect(stored.candidates[1]!.intervention).toEqual(intervention(0.2))
  expect(stored.candidates[1]!.forecast).toMatchObject({ ...forecast(0.2, [1, 2]), campaignId: campaign.id, round: 1 })
  expect(stored.dropped).toEqual([{ intervention: intervention(0.1), why: 'It changes nothing.' }])
  await ledger.storeRound({ ...roundOf(campaign.id, 2, version.id), dropped: [] })
  expect((await ledger.roundsOf(campaign.id)).map(({ round }) => round)).toEqual([1, 2])
})

test('a round that was stored stays; storing it again returns the first', async () => {
  await using given = await withCampaign()
  const { ledger, campaign, version } = given
  const first = await ledger.storeRound(roundOf(campaign.id, 1, version.id))
  const other = roundOf(campaign.id, 1, version.id)
  const again = await ledger.storeRound({ ...other, candidates: other.candidates.slice(1), dropped: [] })
  expect(again).toEqual(first)
})

test('a round that cannot be stored leaves nothing behind', async () => {
  await using given = await withCampaign()
  const { ledger, campaign, version, path } = given
  const round = roundOf(campaign.id, 1, version.id)
  const [first, ...others] = round.candidates
  const impossible = { ...round, candidates: [...others, { ...first!, probability: 1.5 }] }
  await expect(ledger.storeRound(impossible)).rejects.toThrow('CHECK constraint failed')
  expect(await ledger.roundsOf(campaign.id)).toEqual([])
  const file = new DatabaseSync(path)
  expect(
    file.prepare('select (select count(*) from forecasts) + (select count(*) from choices) as rows').get(),
  ).toEqual({ rows: 0 })
  file.close()
  expect(await ledger.interventionByHash(version.id, 'rate 0.2')).toBeNull()
})
