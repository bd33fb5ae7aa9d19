/** What the forecasts of a campaign took of a language model, those that failed too, over all its rounds. */
import { addUsage, noUsage, type Usage } from '../language/usage.ts'
import type { Ledger } from '../ledger/ledger.ts'

export async function languageSpent(campaignId: number, ledger: Ledger): Promise<Usage> {
  const rounds = await ledger.roundsOf(campaignId)
  const made = rounds.flatMap(({ candidates }) => candidates.map(({ forecast }) => forecast))
  const all = [...made, ...(await ledger.failedForecastsOf({ campaignId }))]
  return all.map(each => each?.model?.usage ?? noUsage).reduce(addUsage, noUsage)
}
