/** Where a campaign stands, as a user sees it: the ledger's last word, and whether its process is still there. */
import { isAlive } from '../execute/process-table.ts'
import type { StoredCampaign } from '../ledger/campaigns.ts'

/** `interrupted`: its process ended without a word, or is gone with the machine. `resume` goes on with it, as with `stopped`. */
export type CampaignState = 'running' | 'interrupted' | 'stopped' | 'finished'

export function campaignState({ last: { state, claimant } }: StoredCampaign): CampaignState {
  if (state === 'stopped' || state === 'finished') return state
  return claimant !== null && isAlive({ pid: claimant.pid, startTime: claimant.started }) ? 'running' : 'interrupted'
}
