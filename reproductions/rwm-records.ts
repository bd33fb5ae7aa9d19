/**
 * Makes the records that come with `environments/nanolm`: 72 interventions of each next-byte recipe and 36 of the masked-diffusion
 * one with two seeds, the references with five. About 375 training runs, three quarters of an hour on two idle cores. Stopped or
 * killed, it goes on where it was.
 *
 * Run:  node reproductions/rwm-records.ts
 *
 * Each recipe is one campaign of one round that runs every candidate, so nothing is chosen by a forecast; its ledger is
 * `environments/nanolm/.almanac/ledger.db`. Seconds differ between machines, and the last digits of a metric may.
 */
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { openEnvironment } from '../src/campaign/open-environment.ts'
import { familyId } from '../src/experiment/environment.ts'
import { openLedger } from '../src/ledger/ledger.ts'
import { campaignResume } from '../src/operations/campaign-resume.ts'
import { campaignStart } from '../src/operations/campaign-start.ts'
import { exportRecords } from '../src/operations/export.ts'
import { runInTerminal } from '../src/terminal.ts'

new Command('node reproductions/rwm-records.ts')
  .description(
    'Makes the records that come with environments/nanolm: about 375 training runs, three quarters of an hour.',
  )
  .parse()

const nanolm = fileURLToPath(new URL('../environments/nanolm/', import.meta.url))
const ledger = `${nanolm}.almanac/ledger.db`
const recipes = [
  { recipe: 'olmo', file: 'almanac.config.ts', interventions: 72 },
  { recipe: 'nanochat', file: 'nanochat.config.ts', interventions: 72 },
  { recipe: 'diffusion', file: 'diffusion.config.ts', interventions: 36 },
]

for (const { recipe, file, interventions } of recipes) {
  const place = { directory: nanolm + file, ledger, json: false }
  const before = await lastCampaign(place.directory)
  if (before === null) {
    const all = {
      rounds: 1,
      choose: interventions,
      exploration: 0,
      seeds: 2,
      // Two for all: more for what looks good would make the noise of good records smaller than that of others.
      confirm: 0,
      referenceSeeds: 5,
      concurrency: 2,
      forecaster: 'constant' as const,
    }
    await runInTerminal(campaignStart, all, place)
  } else if (before !== 'finished') await runInTerminal(campaignResume, {}, place)
  if ((await lastCampaign(place.directory)) !== 'finished') break
  await runInTerminal(exportRecords, { path: `${nanolm}records/${recipe}.jsonl` }, place)
}

async function lastCampaign(directory: string): Promise<string | null> {
  const { family } = await openEnvironment(directory)
  await using open = await openLedger(ledger)
  const campaign = await open.latestCampaign(familyId(family))
  return campaign?.last.state ?? null
}
