/**
 * What forecasts are worth, on real records: the evaluation of "Language Models as AI Research World Models" (RWM, arXiv
 * 2610.12235) at micro scale, with forecasters that learn from records alone. Every forecaster in every condition, the
 * noise ceiling, the case of the recipe that already has Muon, and the loop replayed.
 *
 *     node reproductions/rwm.ts [--records FOLDER] [--pools 1000] [--splits 20] [--resamples 500] [--repeats 10] [--seed 1] [--out FOLDER]
 *
 * Prints a Markdown page and writes it with its picture: rwm.md and rwm.svg, beside this file unless told otherwise. The
 * same records and seed give the same bytes. A few minutes on two cores.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { type LoopResult, replay, replayAtRandom, replayOracle } from '../src/campaign/replay.ts'
import { writeAtomically } from '../src/files/atomic.ts'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { forecasters } from '../src/forecast/forecaster.ts'
import { groupResamples } from '../src/forecast/group-resamples.ts'
import { noiseCeiling } from '../src/forecast/noise-ceiling.ts'
import { meanEstimate } from '../src/statistics/bootstrap.ts'
import { alreadyMuon } from './rwm/already-muon.ts'
import { compare } from './rwm/comparison.ts'
import { type EnvironmentRecords, environmentRecords } from './rwm/environment-records.ts'
import { evidencePage } from './rwm/evidence.ts'
import { drawPicture } from './rwm/picture.ts'
import { atRandom, type ReplayRow } from './rwm/replay-section.ts'

interface Flags {
  readonly records: string
  readonly pools: number
  readonly splits: number
  readonly resamples: number
  readonly repeats: number
  readonly seed: number
  readonly out: string
}

const place = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const program = new Command('node reproductions/rwm.ts')
  .description('What forecasts are worth, on real records: prints a Markdown page and writes it with its picture.')
  .option('--records <folder>', 'one .jsonl file for each environment', place('../environments/nanolm/records'))
  .option('--pools <number>', 'of candidates, for each split', wholeNumberFrom(1), 1000)
  .option('--splits <number>', 'of the records into history and candidates', wholeNumberFrom(1), 20)
  .option('--resamples <number>', 'for the intervals', wholeNumberFrom(1), 500)
  .option('--repeats <number>', 'of the loop that is replayed', wholeNumberFrom(1), 10)
  .option('--seed <number>', 'of all that is drawn', wholeNumberFrom(0), 1)
  .option('--out <folder>', 'where the page and the picture are written', place('.'))
  .parse()
const { pools, splits, repeats, seed, ...flags } = program.opts<Flags>()

const environments = readEnvironments(flags.records)
const resamples = groupResamples(
  environments.flatMap(({ records }) => records),
  flags.resamples,
  seed,
)

// One by one: what they are worth together, weighed by their past, is for logs in time order (rwm-logs.ts).
const { stack: _together, ...alone } = forecasters
const comparisons = await compare(alone, environments, { pools, splits, seed, resamples })

const ceilingsByEnvironment = environments.map(({ records }) => noiseCeiling(records, resamples))
const ceiling = meanEstimate(ceilingsByEnvironment)

const muon = await alreadyMuon([forecasters.neighbours, forecasters.ridge, forecasters.kernel], environments, seed)

const replays: ReplayRow[] = []
for (const own of environments) {
  type Loop = (repeat: number) => LoopResult | Promise<LoopResult>
  const row = async (history: string, forecaster: string, loop: Loop) => {
    const results: LoopResult[] = []
    for (let repeat = 0; repeat < repeats; repeat++) results.push(await loop(1000 * seed + repeat))
    replays.push({ environment: own.name, history, forecaster, results })
  }
  const others = environments.filter(other => other !== own).flatMap(({ records }) => records)
  await row('none', atRandom, repeat => replayAtRandom(own, repeat))
  for (const name of ['neighbours', 'ridge', 'kernel'] as const) {
    await row('its own results', name, repeat => replay(forecasters[name], own, [], repeat))
    await row('other recipe, and its own results', name, repeat => replay(forecasters[name], own, others, repeat))
  }
  await row('the truth', 'oracle', repeat => replayOracle(own, repeat))
}

const page = evidencePage({
  command: commandText(),
  environments,
  comparisons,
  ceilings: { byEnvironment: ceilingsByEnvironment, overall: ceiling },
  replays,
  muon,
  pools,
  splits,
  seed,
})
process.stdout.write(page)
mkdirSync(flags.out, { recursive: true })
writeAtomically(join(flags.out, 'rwm.md'), page)
writeAtomically(join(flags.out, 'rwm.svg'), drawPicture(comparisons, ceiling))

function readEnvironments(folder: string): EnvironmentRecords[] {
  const files = (existsSync(folder) ? readdirSync(folder) : []).filter(file => file.endsWith('.jsonl')).sort()
  if (files.length < 2) {
    program.error(
      `error: ${folder} has ${files.length} .jsonl files; give a folder with the records of two environments or more.`,
    )
  }
  let firstId = 1
  return files.map(file => {
    const found = environmentRecords(readFileSync(join(folder, file), 'utf8'), file, firstId)
    firstId += 100_000
    return found
  })
}

/** The command with what differs from its defaults, but for the folder it writes to. */
function commandText(): string {
  const given = process.argv
    .slice(2)
    .join(' ')
    .replace(/\s*--out[ =]\S+/, '')
    .trim()
  return `node reproductions/rwm.ts${given === '' ? '' : ` ${given}`}`
}
