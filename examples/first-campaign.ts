/**
 * The first thing to see of Almanac, `npm start`: a research campaign on real training runs. Half of the records that come
 * with `environments/nanolm` are its history; its candidates come from the other half, and run for real.
 *
 * Leaves a ledger and a report in `.almanac/first-campaign/`; started again, it goes on with what is left. Takes about three
 * minutes on two cores. `node examples/first-campaign.ts --rounds 1` is shorter.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { openEnvironment } from '../src/campaign/open-environment.ts'
import { writeAtomically } from '../src/files/atomic.ts'
import { wholeNumberFrom } from '../src/flag-values.ts'
import type { RecordLine } from '../src/importers/records-format.ts'
import { readRecords } from '../src/importers/records-jsonl.ts'
import { campaignStart } from '../src/operations/campaign-start.ts'
import { importHistory } from '../src/operations/import.ts'
import { report } from '../src/operations/report.ts'
import { objectiveText } from '../src/report/gain-legend.ts'
import { reportError } from '../src/report-error.ts'
import { seededRandom } from '../src/statistics/random.ts'
import { runInTerminal } from '../src/terminal.ts'

const standard = fileURLToPath(new URL('../.almanac/first-campaign', import.meta.url))
const flags = new Command('node examples/first-campaign.ts')
  .description('A research campaign on real training runs of environments/nanolm: two to three minutes on two cores.')
  .option('--rounds <number>', 'how many rounds', wholeNumberFrom(1), 3)
  .option('--choose <number>', 'how many candidates run in each', wholeNumberFrom(1), 3)
  .option('--folder <folder>', 'where its ledger and its report are kept', standard)
  .parse()
  .opts<{ rounds: number; choose: number; folder: string }>()

try {
  await firstCampaign()
} catch (error) {
  process.exitCode = reportError(error)
}

async function firstCampaign(): Promise<void> {
  const environment = fileURLToPath(new URL('../environments/nanolm/almanac.config.ts', import.meta.url))
  const recordsPath = join(dirname(environment), 'records', 'olmo.jsonl')
  const ledger = join(flags.folder, 'ledger.db')
  const place = { directory: environment, ledger, json: false }

  const historyPath = join(flags.folder, 'history.jsonl')
  const candidatesPath = join(flags.folder, 'candidates.json')

  mkdirSync(flags.folder, { recursive: true })
  const [header, ...lines] = readFileSync(recordsPath, 'utf8').trim().split('\n')
  const records = readRecords([header, ...lines].join('\n'), 'records/olmo.jsonl').lines
  const tried = records.flatMap((line, index) => (line.kind === 'candidate' ? [index] : []))
  const candidates = new Set(seededRandom('first campaign').sample(tried, Math.floor(tried.length / 2)))

  writeAtomically(historyPath, `${[header, ...lines.filter((_, index) => !candidates.has(index))].join('\n')}\n`)
  writeAtomically(candidatesPath, JSON.stringify(records.filter((_, index) => candidates.has(index)).map(candidateOf)))

  const { family } = await openEnvironment(environment)
  const history = records.filter((_, index) => !candidates.has(index))
  const runs = history.reduce((sum, { runs }) => sum + runs.length, 0)
  console.log(`A campaign on real training runs. Measured is ${objectiveText({ family })};
a gain is how much better than the reference a candidate is, above 0 is an improvement.
History: ${tried.length - candidates.size} records and the reference, ${runs} runs in all. Candidates: ${candidates.size} ideas, of which each round
forecasts all that are left and runs the best ${flags.choose}.
`)
  await runInTerminal(importHistory, { path: historyPath }, place)
  await runInTerminal(campaignStart, { rounds: flags.rounds, choose: flags.choose, candidates: candidatesPath }, place)
  await runInTerminal(report, {}, place)
  console.log(`
± is one standard error, from runs that differ in their seed alone. "better": the gain is above 0 with a
chance of 0.95 or more; "worse": of 0.05 or less; "inconclusive": neither, as where the few seeds of a
candidate differ far more than those of the others. The report shows the records of the history too:
the largest gains among them were known before.

Next: open the report; "npm start" again goes on with the ideas that are left; and in your own repository,
${fileURLToPath(new URL('../bin/almanac', import.meta.url))} init`)
}

function candidateOf({ sentence, overrides, diff, tags, origin }: RecordLine) {
  return { sentence, overrides, diff, tags, origin }
}
