/**
 * Training and sampling on the CPU: tokens per second, peak memory and share of the machine's peak of the embedded engine, beside
 * PyTorch and @jax-js/jax with the same model, batch and step. Contenders take turns, a ratio is one of a turn, and its spread
 * over the turns is shown. Aims: training as fast as PyTorch within noise or faster; sampling three times as fast as PyTorch's generate
 * from batch 64 on.
 *
 * Sampling has two peers in PyTorch: a loop written for speed, and generate() of transformers on an equal Llama model.
 *
 * A peer whose step takes longer than --patience seconds is left out of that comparison.
 *
 * Run:  node bench/engine.ts [--parts training,sampling] [--sizes 0.1M,0.3M,1M,3M,10M] [--threads 1,2] [--batches 1,64,256]
 *       [--peers torch,transformers,jax] [--seconds 3] [--turns 3] [--patience 20] [--compile] [--profile] [--json file]
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { estimatedFlopsPerToken } from '../src/engine/models/decoder-parameters.ts'
import { listOption, oneOf, positiveNumber, wholeNumberFrom } from '../src/flag-values.ts'
import { type Block, type Options, startContender } from './engine/contender.ts'
import { matrixPeak } from './engine/matrix-peak.ts'
import { jaxCommand, torchCommand } from './engine/peers.ts'
import { measuredFrom, type Result, resultTable } from './engine/result-table.ts'
import { configurationOf, type Size, sizes } from './engine/sizes.ts'

type Part = Result['part']
type Peer = 'torch' | 'transformers' | 'jax'

interface Flags {
  readonly parts: readonly Part[]
  readonly sizes: readonly string[]
  readonly threads: readonly number[]
  readonly batches: readonly number[]
  readonly peers: readonly Peer[]
  readonly seconds: number
  readonly turns: number
  readonly patience: number
  readonly compile?: boolean
  readonly profile?: boolean
  readonly json?: string
}

const parts: readonly Part[] = ['training', 'sampling']
const sizeNames = sizes.map(({ name }) => name)
const known: readonly Peer[] = ['torch', 'transformers', 'jax']
const flags = new Command('node bench/engine.ts')
  .description('Training and sampling of the embedded engine beside its peers, which are installed the first time.')
  .addOption(listOption('--parts', 'what is measured', oneOf(parts), parts))
  .addOption(listOption('--sizes', 'of the models, in parameters', oneOf(sizeNames), sizeNames))
  .addOption(listOption('--threads', 'of the computation', wholeNumberFrom(1), [1, 2]))
  .addOption(listOption('--batches', 'rows that are sampled at once', wholeNumberFrom(1), [1, 64, 256]))
  .addOption(listOption('--peers', 'who is compared; "" for nobody', oneOf(known), known))
  .option('--seconds <number>', 'of a turn', positiveNumber, 3)
  .option('--turns <number>', 'of each contender', wholeNumberFrom(1), 3)
  .option('--patience <seconds>', 'a peer whose step takes longer is left out', positiveNumber, 20)
  .option('--compile', 'PyTorch compiles the model')
  .option('--profile', "where the engine's time goes, by operator, without peers")
  .option('--json <file>', 'writes what was measured, too')
  .parse()
  .opts<Flags>()
const { compile = false, profile = false } = flags
const peers = profile ? [] : flags.peers
const [torch, jax] = [
  peers.includes('torch') || peers.includes('transformers') ? torchCommand() : null,
  peers.includes('jax') ? jaxCommand() : null,
]
const embedded = [process.execPath, join(import.meta.dirname, 'engine', 'embedded-contender.ts')]

interface Entrant {
  readonly name: string
  readonly command: readonly string[] | null
  readonly task: Options['task']
}

/** The engine first. */
function entrants(part: Part): readonly Entrant[] {
  const task = part === 'training' ? 'train' : 'sample'
  return [
    { name: 'engine', command: embedded, task },
    { name: 'PyTorch', command: peers.includes('torch') ? torch : null, task },
    {
      name: 'transformers',
      command: part === 'sampling' && peers.includes('transformers') ? torch : null,
      task: 'transformers',
    },
    { name: 'jax-js', command: jax, task },
  ]
}

async function compare(part: Part, size: Size, threads: number, rows: number, peak: number): Promise<Result> {
  const [positions, newTokens] = part === 'training' ? [64, 0] : [16, 64]
  const configuration = configurationOf(size, positions + newTokens)
  const shape = { ...size, vocabulary: configuration.vocabulary, feedForwardWidth: configuration.feedForwardWidth }
  const started = []
  for (const { name, command, task } of entrants(part)) {
    if (!command) continue
    const options: Options = { ...shape, task, rows, positions, newTokens, threads, warmUp: 3, compile, profile }
    const contender = await startContender(command, options)
    const { stepSeconds } = contender.ready
    if (started.length > 0 && stepSeconds > flags.patience) {
      console.error(`${name} is left out here: a step takes ${stepSeconds.toFixed(0)} s`)
      contender.end()
      continue
    }
    started.push({ name, contender, blocks: [] as Block[] })
  }
  const [engine] = started
  for (const { name, contender } of started)
    if (contender.ready.parameters !== engine!.contender.ready.parameters)
      throw new Error(`The models differ: ${contender.ready.parameters} parameters in ${name}`)
  for (let turn = 0; turn < (profile ? 1 : flags.turns); turn++)
    for (const { contender, blocks } of started) blocks.push(await contender.block(flags.seconds))
  for (const { contender } of started) contender.end()

  const tokens = rows * (part === 'training' ? positions : newTokens)
  const measured = started.map(({ name, contender, blocks }) =>
    measuredFrom(name, contender.ready, blocks, tokens, engine!.blocks),
  )
  if (profile) {
    console.log(`\n${part}, ${size.name}, ${threads} thread(s), batch ${rows}: shares of the time`)
    reportProfile(engine!.blocks[0]!)
  }
  // A forward pass is a third of a training step; a rollout also reads its prompts.
  const flops =
    part === 'training'
      ? estimatedFlopsPerToken(configuration)
      : ((estimatedFlopsPerToken(configuration) / 3) * (positions + newTokens)) / newTokens
  const shareOfPeak = (measured[0]!.tokensPerSecond * flops) / 1e9 / peak
  const { parameters } = engine!.contender.ready
  return { part, size: size.name, parameters, threads, rows, shareOfPeak, measured }
}

function reportProfile({ seconds, profile }: Block): void {
  const total = seconds.reduce((sum, value) => sum + value, 0)
  const { byOperator, inRun } = profile!
  const percent = (share: number) => `${(100 * share).toFixed(1).padStart(5)} %`
  console.log(`${percent(1 - inRun / total)}  outside the runtime: TypeScript, copies`)
  const falling = Object.entries(byOperator).sort(([, a], [, b]) => b - a)
  for (const [operator, share] of falling.slice(0, 14)) console.log(`${percent((share * inRun) / total)}  ${operator}`)
  const rest = falling.slice(14).reduce((sum, [, share]) => sum + share, 0)
  if (rest > 0) console.log(`${percent((rest * inRun) / total)}  others`)
}

const results: Result[] = []
const peaks = new Map<number, number>()
for (const threads of flags.threads) {
  peaks.set(threads, await matrixPeak(threads))
  console.log(`Product of matrices with ${threads} thread(s): ${peaks.get(threads)!.toFixed(0)} GFLOP/s`)
}
for (const part of flags.parts)
  for (const size of sizes.filter(({ name }) => flags.sizes.includes(name)))
    for (const threads of peaks.keys())
      for (const rows of part === 'training' ? [32] : flags.batches) {
        console.error(`${part}, ${size.name}, ${threads} thread(s), batch ${rows} …`)
        const result = await compare(part, size, threads, rows, peaks.get(threads)!)
        results.push(result)
        const rates = result.measured.map(
          ({ contender, tokensPerSecond, ratio }) =>
            `${contender} ${Math.round(tokensPerSecond)}${ratio ? ` (ratio ${ratio.median.toFixed(2)})` : ''}`,
        )
        console.error(`  tokens/s: ${rates.join(', ')}`)
      }

for (const part of flags.parts) {
  console.log(`\n${part}: a ratio above 1 says that the engine is faster`)
  console.log(resultTable(results.filter(result => result.part === part)))
}
const versions = new Map(
  results.flatMap(({ measured }) => measured.map(({ contender, version }) => [contender, version])),
)
console.log(`\n${[...versions].map(([contender, version]) => `${contender}: ${version}`).join('; ')}`)
if (flags.json) writeFileSync(flags.json, `${JSON.stringify({ peaks: Object.fromEntries(peaks), results }, null, 2)}\n`)
