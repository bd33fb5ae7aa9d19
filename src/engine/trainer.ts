/**
 * Makes a decoder that is trained on this machine's CPU. What a trainer does is said in training.ts.
 */

import type { Trainer } from './batch-training.ts'
import { DecoderComputation } from './decoder-computation.ts'
import { GraphTrainer } from './graph-trainer.ts'
import { checkDecoder, type DecoderConfiguration } from './models/decoder-configuration.ts'
import { decoderParameters, initialDecoderValues } from './models/decoder-parameters.ts'
import { Optimisation } from './optimisers/optimisation.ts'

export type { ForwardResult, TokenBatch, Trainer } from './batch-training.ts'

export interface DecoderTrainerOptions {
  readonly configuration: DecoderConfiguration
  /** Rows that are computed at once: larger batches are split, smaller ones padded. */
  readonly batch: number
  /** Length of every row, at most the configuration's context length. */
  readonly sequence: number
  /** Threads of the computation. Results do not depend on it. */
  readonly threads: number
  /** Of the initial parameters. */
  readonly seed: number
  /** Default 0. */
  readonly zLoss?: number
}

/** Throws one error with all that is wrong with the options. */
export async function createDecoderTrainer(options: DecoderTrainerOptions): Promise<Trainer> {
  const { configuration, batch, sequence, threads, seed, zLoss = 0 } = options
  checkDecoder(configuration)
  const problems: string[] = []
  for (const [field, value] of Object.entries({ batch, sequence, threads }))
    if (!Number.isInteger(value) || value < 1) problems.push(`${field} is ${value}: expected a positive whole number`)
  if (sequence > configuration.contextLength)
    problems.push(`sequence is ${sequence}: expected at most contextLength, which is ${configuration.contextLength}`)
  if (!(Number.isFinite(zLoss) && zLoss >= 0)) problems.push(`zLoss is ${zLoss}: expected a number from 0 on`)
  if (problems.length > 0) throw new Error(`createDecoderTrainer: ${problems.join('; ')}`)

  const parameters = decoderParameters(configuration)
  const values = initialDecoderValues(configuration, seed)
  const computation = new DecoderComputation(configuration, batch, sequence, zLoss, threads)
  return new GraphTrainer(parameters, values, computation, new Optimisation(parameters, threads))
}
