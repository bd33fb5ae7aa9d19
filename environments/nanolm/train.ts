/**
 * Pre-trains a small byte-level language model on real text and measures it on held-out text:
 *
 *     node environments/nanolm/train.ts --config FILE --seed N --out FOLDER [--threads N]
 *
 * Prints a line of progress about once a second and leaves FOLDER/metrics.json. A run that diverges is a result: it is
 * written down and the exit code is 0. Exit code 2: the arguments or the configuration are wrong, one sentence a problem
 * on standard error. Knows nothing of ledgers or campaigns.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { resolveConfiguration } from './configuration.ts'
import { writeMetrics } from './metrics.ts'
import type { Configuration } from './options.ts'
import type { Progress } from './training-run.ts'

const usage = 'Usage: node environments/nanolm/train.ts --config FILE --seed N --out FOLDER [--threads N]'

interface Request {
  readonly configuration: Configuration
  readonly seed: number
  readonly out: string
  readonly threads: number
}

function readRequest(): Request {
  const { values } = parseArgs({
    options: {
      config: { type: 'string' },
      seed: { type: 'string' },
      out: { type: 'string' },
      threads: { type: 'string', default: '1' },
    },
  })
  if (values.config === undefined || values.seed === undefined || values.out === undefined) throw new Error(usage)
  const seed = wholeNumber('--seed', values.seed, 0, Number.MAX_SAFE_INTEGER)
  const threads = wholeNumber('--threads', values.threads, 1, 64)
  return { configuration: readConfiguration(values.config), seed, threads, out: values.out }
}

function wholeNumber(name: string, text: string, minimum: number, maximum: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= minimum && value <= maximum) return value
  throw new Error(`${name} must be a whole number from ${minimum} to ${maximum}, not "${text}".`)
}

function readConfiguration(path: string): Configuration {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`The configuration ${path} cannot be read: ${(cause as Error).message}.`, { cause })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error(`The configuration ${path} is not JSON: ${(cause as Error).message}.`, { cause })
  }
  return resolveConfiguration(value)
}

/** Prints the first step, the last and about one a second between. */
function progressPrinter(): (progress: Progress) => void {
  let printedAt = Number.NEGATIVE_INFINITY
  return ({ step, steps, trainBitsPerByte, tokensPerSecond }) => {
    if (step < steps && performance.now() - printedAt < 1000) return
    printedAt = performance.now()
    const speed = Math.round(tokensPerSecond).toLocaleString('en')
    console.log(`step ${step}/${steps}  loss ${trainBitsPerByte.toFixed(4)} bits/byte  ${speed} tokens/s`)
  }
}

function prepareFolder(out: string): void {
  try {
    mkdirSync(out, { recursive: true })
    // An older result must not pass for this run's if this one is ended on the way.
    rmSync(join(out, 'metrics.json'), { force: true })
  } catch (cause) {
    throw new Error(`The folder ${out} cannot be written: ${(cause as Error).message}.`, { cause })
  }
}

async function main(): Promise<number> {
  let request: Request
  try {
    request = readRequest()
    prepareFolder(request.out)
  } catch (error) {
    console.error((error as Error).message)
    return 2
  }
  const { configuration, seed, threads, out } = request
  // The engine is loaded when there is something to run: what is refused is answered at once.
  const { pretrain } = await import('./pretrain.ts')
  const metrics = await pretrain(configuration, { seed, threads, report: progressPrinter() })
  writeMetrics(out, metrics)
  const seconds = metrics.seconds.toFixed(1)
  if (metrics.outcome === 'diverged') console.log(`diverged: ${metrics.reason}`)
  console.log(`val_bpb: ${Number(metrics.val_bpb).toFixed(4)}  ${metrics.tokens} tokens in ${seconds} s`)
  return 0
}

process.exitCode = await main()
