/**
 * What is learned from windows of text, and what they cost under what was learned.
 */
import type { CrossEntropyDatum } from '../../src/engine/datum.ts'
import type { Trainer } from '../../src/engine/training.ts'
import type { Random } from '../../src/statistics/random.ts'
import { maskedDiffusion } from './masked-diffusion.ts'
import { nextByte } from './next-byte.ts'
import type { Configuration } from './options.ts'

export interface Objective {
  /** Tokens of the model: the bytes, and what the objective adds. */
  readonly vocabulary: number
  readonly attention: 'causal' | 'bidirectional'
  /** Of each source's held-out text, that are measured. */
  readonly excerpts: number
  /** One datum a window, in their order. With these weights the loss is a mean over the windows' bytes, in nats. */
  trainingData(windows: readonly Buffer[], random: Random): CrossEntropyDatum[]
  /** Cost of the windows' bytes, in bits per byte. Numbers that are not finite come out as they are. */
  bitsPerByte(trainer: Trainer, windows: readonly Buffer[]): Promise<number>
}

export function objectiveOf(configuration: Configuration): Objective {
  return configuration.objective === 'autoregressive' ? nextByte : maskedDiffusion(configuration)
}
