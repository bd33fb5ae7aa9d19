/**
 * The ledger with many runs: 100,000 runs (50,000 interventions with two seeds) inserted in one import and listed as
 * records. Prints seconds, the median of several turns.
 *
 * Run:  node bench/ledger.ts [--interventions 50000] [--turns 3]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import type { Family } from '../src/experiment/environment.ts'
import { interventionHash } from '../src/experiment/identity.ts'
import type { Outcome } from '../src/experiment/intervention.ts'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { openLedger } from '../src/ledger/ledger.ts'
import { seededRandom } from '../src/statistics/random.ts'
import { median } from '../src/statistics/summary.ts'

const { interventions: count, turns } = new Command('node bench/ledger.ts')
  .description('Seconds to insert and to list many runs, two for each intervention.')
  .option('--interventions <number>', 'that are inserted', wholeNumberFrom(1), 50_000)
  .option('--turns <number>', 'of which the median is taken', wholeNumberFrom(1), 3)
  .parse()
  .opts<{ readonly interventions: number; readonly turns: number }>()

const family: Family = {
  name: 'bench',
  description: '',
  metrics: [{ name: 'loss', direction: 'minimize' }],
  constraints: [],
  command: 'none',
  budget: {},
  evaluator: {},
  data: [],
}

const seconds: { insert: number; list: number }[] = []
for (let turn = 0; turn < turns; turn++) seconds.push(await measureOnce(turn))

const runs = (2 * count).toLocaleString('en')
console.log(`| what | seconds (median of ${turns}) |\n|---|---|`)
console.log(`| ${runs} runs inserted | ${median(seconds.map(({ insert }) => insert)).toFixed(2)} |`)
console.log(
  `| ${runs} runs listed as ${count.toLocaleString('en')} records | ${median(seconds.map(({ list }) => list)).toFixed(2)} |`,
)

async function measureOnce(turn: number): Promise<{ insert: number; list: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  const random = seededRandom(turn)
  try {
    await using ledger = await openLedger(join(folder, 'ledger.db'))
    const familyId = await ledger.ensureFamily(family)
    const reference = { configuration: { rate: 1 }, commit: null, tree: null, code: null }
    const version = await ledger.ensureVersion(familyId, reference)
    const start = performance.now()
    await ledger.transaction(async ledger => {
      const referenceId = await ledger.ensureReference(version.id)
      const imported = [1, 2, 3].map(seed => ({
        interventionId: referenceId,
        seed,
        attempt: 0,
        outcome: finished(random.normal()),
      }))
      for (let index = 0; index < count; index++) {
        const overrides = { rate: index + 2 }
        const hash = interventionHash({ configuration: overrides, tree: null })
        const intervention = { sentence: `Learn at ${index + 2}`, overrides, diff: null, tags: ['rate'], origin: null }
        const { id } = await ledger.ensureIntervention(version.id, hash, intervention)
        for (const seed of [1, 2])
          imported.push({ interventionId: id, seed, attempt: 0, outcome: finished(random.normal()) })
      }
      await ledger.importRuns(imported)
    })
    const inserted = performance.now()
    const records = await ledger.recordsOf({ versionIds: [version.id] })
    if (records.length !== count || records.some(({ measured }) => measured === null))
      throw new Error('records are missing')
    return { insert: (inserted - start) / 1000, list: (performance.now() - inserted) / 1000 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function finished(loss: number): Outcome {
  const startedAt = '2026-01-01T00:00:00.000Z'
  return {
    kind: 'finished',
    reason: null,
    metrics: { loss },
    exitCode: 0,
    startedAt,
    finishedAt: startedAt,
    seconds: 1,
    cost: null,
  }
}
