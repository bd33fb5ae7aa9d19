/**
 * What the program computes, by example: tiny runs that use every option together, with the numbers that came out. The engine below
 * may be rewritten as long as these stay; where they change, nanolm is another environment, and its records are of the old one. So their
 * file stands for the engine in the version of the environment, and a test runs them.
 *
 *     node behaviour.ts     runs them and writes behaviour.json anew
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { resolveConfiguration } from './configuration.ts'
import type { Metrics } from './metrics.ts'
import type { Configuration } from './options.ts'
import { pretrain } from './pretrain.ts'

const file = fileURLToPath(new URL('behaviour.json', import.meta.url))

export interface Example {
  readonly configuration: Partial<Configuration>
  readonly seed: number
  readonly parameters: number
  readonly estimatedFlops: number
  /** Mean loss of every step, in bits per byte. */
  readonly training: readonly number[]
  /** Held-out bits per byte. */
  readonly mobyDick: number
  readonly stateOfTheUnion: number
}

export function readExamples(): Example[] {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The example as the program computes it now. */
export async function measured({ configuration, seed }: Pick<Example, 'configuration' | 'seed'>): Promise<Example> {
  const metrics = await pretrain(resolveConfiguration(configuration), { seed })
  if (metrics.outcome !== 'finished')
    throw new Error(
      `behaviour.json: the run ${JSON.stringify(configuration)} diverged: ${metrics.reason}; choose other values for it`,
    )
  const { parameters, estimated_flops, curve, val_bpb_moby_dick, val_bpb_sotu } = metrics
  return {
    configuration,
    seed,
    parameters,
    estimatedFlops: estimated_flops,
    training: curve.map(({ train_bpb }) => rounded(train_bpb)),
    mobyDick: rounded(val_bpb_moby_dick),
    stateOfTheUnion: rounded(val_bpb_sotu),
  }
}

function rounded(bits: Metrics['val_bpb']): number {
  return Number(Number(bits).toFixed(6))
}

if (import.meta.main) {
  const examples = []
  for (const given of readExamples()) examples.push(await measured(given))
  writeFileSync(file, `${JSON.stringify(examples, null, 2)}\n`)
  console.log(`${examples.length} runs written to behaviour.json`)
}
