/** Goes on with a campaign after a stop, a crash or a `kill -9`. */
import { z } from 'zod'
import { resumeCampaign } from '../campaign/campaign.ts'
import { campaignState } from '../campaign/campaign-state.ts'
import type { StoredCampaign } from '../ledger/campaigns.ts'
import { campaignJson, campaignOutcome, campaignText } from './campaign-outcome.ts'
import { findCampaign } from './campaign-status.ts'
import { NothingToDo, operation } from './operation.ts'
import { inPlace, type Place } from './surroundings.ts'

export const campaignResume = operation({
  name: 'campaign resume',
  summary: 'go on with a campaign that was stopped or interrupted',
  example: 'almanac campaign resume',
  positional: ['campaign'],
  input: z.strictObject({
    campaign: z.coerce.number().int().positive().optional().describe('its number (default: the latest that can go on)'),
  }),
  paysForRuns: true,
  run: ({ campaign: id }, context) =>
    inPlace(context, async place => {
      const campaign = (id === undefined ? await latestToResume(place) : null) ?? (await findCampaign(id, place))
      if (campaign.last.state === 'finished') {
        throw new NothingToDo(`Campaign ${campaign.id} is finished. ${campaign.last.detail ?? ''}`.trim())
      }
      await resumeCampaign(campaign, place)
      return campaignOutcome(campaign.id, place.ledger)
    }),
  json: campaignJson,
  text: campaignText,
})

async function latestToResume({ ledger, environment }: Place): Promise<StoredCampaign | null> {
  const all = await ledger.campaigns(environment.familyId)
  return all.findLast(each => ['stopped', 'interrupted'].includes(campaignState(each))) ?? null
}
