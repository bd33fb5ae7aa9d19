/**
 * Tokens per second of training on the CPU, the engine beside PyTorch: the same decoder, batch and AdamW step, in turns, as
 * a ratio in one run. Makes a virtual environment with the newest PyTorch in the temporary folder the first time; where that
 * cannot be done it says so and prints the engine's figures alone.
 *
 * Run:  node bench/training-tokens.ts [--steps 20] [--turns 3] [--threads 1,2] [--sizes 0.1M,0.4M,0.6M] [--compile]
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type DecoderConfiguration, feedForwardWidthOf } from '../src/engine/models/decoder-configuration.ts'
import { estimatedFlopsPerToken, parameterCount } from '../src/engine/models/decoder-parameters.ts'
import { createDecoderTrainer } from '../src/engine/trainer.ts'
import { seededRandom } from '../src/statistics/random.ts'
import { median } from '../src/statistics/summary.ts'

interface Size {
  readonly name: string
  readonly width: number
  readonly depth: number
  readonly heads: number
  readonly rows: number
  readonly sequence: number
}

const sizes: readonly Size[] = [
  { name: '0.1M', width: 48, depth: 3, heads: 2, rows: 32, sequence: 64 },
  { name: '0.4M', width: 96, depth: 3, heads: 4, rows: 16, sequence: 64 },
  { name: '0.6M', width: 112, depth: 4, heads: 4, rows: 32, sequence: 64 },
  { name: '0.6M/256', width: 112, depth: 4, heads: 4, rows: 8, sequence: 256 },
  { name: '3M', width: 256, depth: 4, heads: 8, rows: 32, sequence: 64 },
]

const { values: flags } = parseArgs({
  options: {
    steps: { type: 'string', default: '20' },
    turns: { type: 'string', default: '3' },
    threads: { type: 'string', default: '1,2' },
    sizes: { type: 'string', default: '0.1M,0.4M,0.6M,0.6M/256' },
    compile: { type: 'boolean', default: false },
  },
})
const steps = Number(flags.steps)

function configurationOf({ width, depth, heads, sequence }: Size): DecoderConfiguration {
  return {
    vocabulary: 256,
    contextLength: sequence,
    depth,
    width,
    heads,
    keyValueHeads: heads,
    positions: 'rotary',
    norm: 'pre',
    queryKeyNorm: false,
    activation: 'swiglu',
    tiedEmbeddings: true,
    logitSoftCap: null,
    initialisationScale: 1,
    residualScaling: 'none',
  }
}

/** Of each step, after three that warm up. */
interface Measured {
  readonly seconds: readonly number[]
  /** Of all threads. On a machine that others use too, it says more than the wall clock; it counts waiting in loops as work. */
  readonly processorSeconds: readonly number[]
}

async function measureEngine(size: Size, threads: number): Promise<Measured> {
  const { rows, sequence } = size
  const trainer = await createDecoderTrainer({
    configuration: configurationOf(size),
    batch: rows,
    sequence,
    threads,
    seed: 1,
  })
  const random = seededRandom(1)
  const count = rows * sequence
  const batch = {
    tokens: Int32Array.from({ length: count }, () => random.integer(256)),
    targets: Int32Array.from({ length: count }, () => random.integer(256)),
    weights: new Float32Array(count).fill(1 / count),
  }
  const groups = [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 3e-3, weightDecay: 0.1 }] as const
  const seconds: number[] = []
  const processorSeconds: number[] = []
  for (let step = 0; step < steps + 3; step++) {
    const start = performance.now()
    const processorStart = process.cpuUsage()
    await trainer.forwardBackward(batch)
    await trainer.optimStep({ groups, clipNorm: 1 })
    if (step < 3) continue
    seconds.push((performance.now() - start) / 1000)
    const { user, system } = process.cpuUsage(processorStart)
    processorSeconds.push((user + system) / 1e6)
  }
  await trainer.dispose()
  return { seconds, processorSeconds }
}

/** The path of a Python that has PyTorch, or the reason why there is none. */
function pythonWithTorch(): { readonly python: string } | { readonly reason: string } {
  const folder = join(tmpdir(), 'almanac-bench-torch')
  const python = join(folder, 'bin', 'python')
  try {
    if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe' })
    try {
      execFileSync(python, ['-c', 'import torch'], { stdio: 'pipe' })
    } catch {
      console.log(`Installing PyTorch into ${folder} …`)
      execFileSync(python, ['-m', 'pip', 'install', '--quiet', 'torch', 'numpy'], { stdio: 'pipe' })
    }
    const version = execFileSync(python, ['-c', 'import torch; print(torch.__version__)'], { encoding: 'utf8' })
    console.log(`PyTorch ${version.trim()}`)
    return { python }
  } catch (error) {
    return { reason: error instanceof Error ? error.message.split('\n')[0]! : String(error) }
  }
}

function measureTorch(python: string, size: Size, threads: number): Measured {
  const configuration = configurationOf(size)
  const { rows } = size
  const options = {
    ...configuration,
    ...size,
    feedForwardWidth: feedForwardWidthOf(configuration),
    threads,
    rows,
    steps,
    compile: flags.compile,
  }
  const script = join(import.meta.dirname, 'training_tokens_torch.py')
  const output = execFileSync(python, [script, JSON.stringify(options)], { encoding: 'utf8' })
  const result = JSON.parse(output) as Measured & { readonly parameters: number }
  if (result.parameters !== parameterCount(configuration))
    throw new Error(
      `The models differ: ${result.parameters} parameters in PyTorch, ${parameterCount(configuration)} here`,
    )
  return result
}

function report(size: Size, threads: number, engine: Measured, peer: Measured): void {
  const configuration = configurationOf(size)
  const count = size.rows * size.sequence
  const both = (values: number[], digits: number) => `${values[0]!.toFixed(digits)} (${values[1]!.toFixed(digits)})`
  const summary = (seconds: readonly number[]) => [median(seconds), Math.min(...seconds)]
  const rate = (seconds: readonly number[]) =>
    both(
      summary(seconds).map(value => count / value),
      0,
    )
  const ratio = (ours: readonly number[], theirs: readonly number[]) =>
    both(
      summary(theirs).map((value, index) => value / summary(ours)[index]!),
      2,
    )
  const gigaflops = (estimatedFlopsPerToken(configuration) * count) / Math.min(...engine.seconds) / 1e9
  const hasPeer = peer.seconds.length > 0
  console.log(
    [
      size.name,
      parameterCount(configuration),
      `${size.rows}x${size.sequence}`,
      threads,
      rate(engine.seconds),
      gigaflops.toFixed(0),
      hasPeer ? rate(peer.seconds) : '-',
      hasPeer ? ratio(engine.seconds, peer.seconds) : '-',
      hasPeer ? ratio(engine.processorSeconds, peer.processorSeconds) : '-',
    ].join('\t'),
  )
}

const torch = pythonWithTorch()
if ('reason' in torch) console.log(`PyTorch is skipped: ${torch.reason}`)
console.log('Tokens per second by the median step, by the fastest in brackets; a ratio above 1: the engine is faster')
console.log('size parameters batch threads engine GFLOP/s PyTorch ratio processor-time-ratio'.split(' ').join('\t'))
for (const size of sizes.filter(({ name }) => flags.sizes.split(',').includes(name)))
  for (const threads of flags.threads.split(',').map(Number)) {
    const turns: { engine: Measured; peer: Measured | null }[] = []
    for (let turn = 0; turn < Number(flags.turns); turn++)
      turns.push({
        engine: await measureEngine(size, threads),
        peer: 'python' in torch ? measureTorch(torch.python, size, threads) : null,
      })
    const joined = (measured: (Measured | null)[]): Measured => ({
      seconds: measured.flatMap(turn => turn?.seconds ?? []),
      processorSeconds: measured.flatMap(turn => turn?.processorSeconds ?? []),
    })
    report(size, threads, joined(turns.map(({ engine }) => engine)), joined(turns.map(({ peer }) => peer)))
  }
