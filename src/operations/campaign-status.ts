/** Where a campaign stands. */
import { z } from 'zod'
import type { StoredCampaign } from '../ledger/campaigns.ts'
import { openLedgerToRead } from '../ledger/ledger.ts'
import { campaignJson, campaignOutcome, campaignText } from './campaign-outcome.ts'
import { InputError, operation } from './operation.ts'
import { inPlace, type Place } from './surroundings.ts'

export const campaignStatus = operation({
  name: 'campaign status',
  summary: 'show where a campaign stands: rounds, forecasts, measured gains',
  example: 'almanac campaign status',
  positional: ['campaign'],
  input: z.strictObject({
    campaign: z.coerce.number().int().positive().optional().describe('its number (default: the latest)'),
  }),
  run: ({ campaign: id }, context) =>
    inPlace(
      context,
      async place => campaignOutcome((await findCampaign(id, place)).id, place.ledger),
      openLedgerToRead,
    ),
  json: campaignJson,
  text: campaignText,
})

export async function findCampaign(id: number | undefined, { ledger, environment }: Place): Promise<StoredCampaign> {
  const campaign = id === undefined ? await ledger.latestCampaign(environment.familyId) : await ledger.campaign(id)
  if (campaign) return campaign
  throw new InputError(
    id === undefined
      ? 'No campaign was started in this environment; begin with "almanac campaign start".'
      : `There is no campaign ${id} in this ledger; "almanac campaign status" shows the latest.`,
  )
}
