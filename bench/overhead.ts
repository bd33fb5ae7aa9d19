/**
 * Almanac's own time for a run of a campaign: wall clock of a campaign whose command does nothing but write its metric,
 * per run, minus the wall clock of the same command started by a shell. One run at a time.
 *
 * Run:  node bench/overhead.ts [--runs 100]
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { campaignStart } from '../src/operations/campaign-start.ts'
import type { Context } from '../src/operations/operation.ts'

const { values: flags } = parseArgs({ options: { runs: { type: 'string', default: '100' } } })
const runs = Number(flags.runs)

const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const command = 'echo "loss: {seed}"'
writeFileSync(
  join(folder, 'almanac.config.json'),
  JSON.stringify({
    name: 'overhead',
    command,
    reference: { configuration: { rate: 0 } },
    metrics: [{ name: 'loss', direction: 'minimize', pattern: '^loss: ([0-9.]+)' }],
    seeds: 1,
    referenceSeeds: 1,
    candidates: { file: 'candidates.json' },
  }),
)
const candidates = Array.from({ length: runs - 1 }, (_, index) => ({
  sentence: `Learn at ${index + 1}`,
  overrides: { rate: index + 1 },
}))
writeFileSync(join(folder, 'candidates.json'), JSON.stringify(candidates))

const never = new AbortController().signal
const context: Context = { directory: folder, stop: never, cancel: never, variables: process.env, emit() {} }
try {
  const bare = perRun(() => {
    for (let run = 0; run < runs; run++) execFileSync('/bin/sh', ['-c', command.replace('{seed}', String(run))])
  })
  const before = performance.now()
  const { runs: paid } = await campaignStart.run({ rounds: 1, choose: runs, forecaster: 'constant' }, context)
  if (paid !== runs) throw new Error(`${paid} runs instead of ${runs}`)
  const whole = (performance.now() - before) / runs
  console.log('| what | milliseconds a run |\n|---|---|')
  console.log(`| the command alone | ${bare.toFixed(1)} |`)
  console.log(`| the campaign | ${whole.toFixed(1)} |`)
  console.log(`| Almanac's own time | ${(whole - bare).toFixed(1)} |`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function perRun(action: () => void): number {
  const before = performance.now()
  action()
  return (performance.now() - before) / runs
}
