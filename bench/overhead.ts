/**
 * Almanac's own time for a run of a campaign: wall clock of a campaign whose command only waits and prints its metric, per
 * run, minus the wall clock of the same command started by a shell. One run at a time; for a command that lasts a quarter of
 * a second, and for one that lasts no time at all (then the process that stays with the next run is not ready yet).
 *
 * Run:  node bench/overhead.ts [--runs 60]
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { campaignStart } from '../src/operations/campaign-start.ts'
import type { Context } from '../src/operations/operation.ts'

const { runs } = new Command('node bench/overhead.ts')
  .description("Almanac's own time for a run of a campaign.")
  .option('--runs <number>', 'of a campaign', wholeNumberFrom(2), 60)
  .parse()
  .opts<{ readonly runs: number }>()
const candidates = Array.from({ length: runs - 1 }, (_, index) => ({
  sentence: `Learn at ${index + 1}`,
  overrides: { rate: index + 1 },
}))

console.log("| the command | alone, ms a run | in a campaign | Almanac's own time |\n|---|---|---|---|")
for (const [name, command] of [
  ['waits 250 ms', 'sleep 0.25; echo "loss: {seed}"'],
  ['ends at once', 'echo "loss: {seed}"'],
] as const) {
  const bare = alone(command)
  const whole = await inCampaign(command)
  console.log(`| ${name} | ${bare.toFixed(1)} | ${whole.toFixed(1)} | ${(whole - bare).toFixed(1)} |`)
}

function alone(command: string): number {
  const before = performance.now()
  for (let run = 0; run < runs; run++) execFileSync('/bin/sh', ['-c', command.replace('{seed}', String(run))])
  return (performance.now() - before) / runs
}

async function inCampaign(command: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    writeFileSync(join(folder, 'almanac.config.json'), JSON.stringify(environmentOf(command)))
    writeFileSync(join(folder, 'candidates.json'), JSON.stringify(candidates))
    const never = new AbortController().signal
    const context: Context = { directory: folder, stop: never, cancel: never, variables: process.env, emit() {} }
    const before = performance.now()
    const { runs: paid } = await campaignStart.run({ rounds: 1, choose: runs, forecaster: 'constant' }, context)
    if (paid !== runs) throw new Error(`${paid} runs instead of ${runs}`)
    return (performance.now() - before) / runs
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function environmentOf(command: string) {
  return {
    name: 'overhead',
    command,
    reference: { configuration: { rate: 0 } },
    metrics: [{ name: 'loss', direction: 'minimize', pattern: '^loss: ([0-9.]+)' }],
    seeds: 1,
    referenceSeeds: 1,
    candidates: { file: 'candidates.json' },
  }
}
