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

/** Seconds of each step, after three that warm up. */
async function engineSeconds(size: Size, threads: number): Promise<number[]> {
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
  for (let step = 0; step < steps + 3; step++) {
    const start = performance.now()
    await trainer.forwardBackward(batch)
    await trainer.optimStep({ groups, clipNorm: 1 })
    if (step >= 3) seconds.push((performance.now() - start) / 1000)
  }
  await trainer.dispose()
  return seconds
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
    return { python }
  } catch (error) {
    return { reason: error instanceof Error ? error.message.split('\n')[0]! : String(error) }
  }
}

function torchSeconds(python: string, size: Size, threads: number): { version: string; seconds: number[] } {
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
  const result = JSON.parse(output) as { version: string; parameters: number; seconds: number[] }
  if (result.parameters !== parameterCount(configuration))
    throw new Error(
      `The models differ: ${result.parameters} parameters in PyTorch, ${parameterCount(configuration)} here`,
    )
  return result
}

const torch = pythonWithTorch()
if ('reason' in torch) console.log(`PyTorch is skipped: ${torch.reason}`)
console.log('median over steps; the fastest step in brackets; tokens per second')
console.log(['size', 'parameters', 'batch', 'threads', 'engine', 'GFLOP/s', 'PyTorch', 'ratio'].join('\t'))
for (const size of sizes.filter(({ name }) => flags.sizes.split(',').includes(name)))
  for (const threads of flags.threads.split(',').map(Number)) {
    const engine: number[] = []
    const peer: number[] = []
    let version = ''
    for (let turn = 0; turn < Number(flags.turns); turn++) {
      engine.push(...(await engineSeconds(size, threads)))
      if ('reason' in torch) continue
      const measured = torchSeconds(torch.python, size, threads)
      peer.push(...measured.seconds)
      version = measured.version
    }
    const configuration = configurationOf(size)
    const count = size.rows * size.sequence
    const rate = (seconds: number[]) =>
      `${Math.round(count / median(seconds))} (${Math.round(count / Math.min(...seconds))})`
    const gigaflops = ((estimatedFlopsPerToken(configuration) * count) / median(engine) / 1e9).toFixed(1)
    const fastest = (Math.min(...peer) / Math.min(...engine)).toFixed(2)
    const ratio = peer.length > 0 ? `${(median(peer) / median(engine)).toFixed(2)} (${fastest})` : '-'
    const peerRate = peer.length > 0 ? `${rate(peer)} torch ${version}` : '-'
    const shape = `${size.rows}x${size.sequence}`
    console.log(
      [size.name, parameterCount(configuration), shape, threads, rate(engine), gigaflops, peerRate, ratio].join('\t'),
    )
  }
