/**
 * A model in training, with the verbs that methods are written against, whatever engine is behind them.
 */
import type { DatumFor, Loss } from './losses/loss.ts'
import type { OptimStepOptions, OptimStepResult } from './optimisers/optimiser.ts'
import type { Parameter } from './parameter.ts'
import type { Sampler, SnapshotOptions } from './sampling.ts'

export interface ForwardOptions {
  /** Read-outs to return, by the names that the model gives them. Default none. */
  readonly capture?: readonly string[]
  /**
   * Whether dropout is on, and which masks it takes: the same number always gives a datum at the same place in the data the
   * same masks. Default of `forward`: null, off; of `forwardBackward`: a number of its own for each call.
   */
  readonly dropoutSeed?: number | null
}

export interface ForwardResult {
  /** Sum over all data of what was asked for, in nats; what `forwardBackward` differentiates. */
  readonly lossSum: number
  /** What of it came from one source, where the loss has several: zLoss, innerState. */
  readonly parts: Readonly<Record<string, number>>
  /** By datum, the log-probability of each target, in nats, in the order of the targets. */
  readonly logProbabilities: readonly Float32Array[]
  /** By datum, what each target adds to `lossSum` (without the parts). */
  readonly losses: readonly Float32Array[]
  /** By read-out, then by datum: positions × the size of one position. */
  readonly captured: ReadonlyMap<string, readonly Float32Array[]>
}

/** Copies of arrays by parameter name. */
export type ParameterArrays = ReadonlyMap<string, Float32Array>

export interface LoadOptions {
  /** Also what the optimisers remember. Default true. */
  readonly optimiser?: boolean
}

/**
 * Calls are carried out one after the other in the order they were made; they may be made before earlier ones have answered. A
 * call that is refused changes nothing. Gradients accumulate over `forwardBackward` until `optimStep` applies and clears them.
 */
export interface Trainer {
  /** In a fixed order; only those that are trained: where adapters are, not the base. */
  readonly parameters: readonly Parameter[]
  readonly vocabulary: number
  /** Longest input, in positions. */
  readonly contextLength: number
  /** Number of optimiser steps that the weights have taken, over saving and loading. */
  readonly version: number
  /** The loss and log-probabilities without gradients. */
  forward<L extends Loss>(data: readonly DatumFor<L>[], loss: L, options?: ForwardOptions): Promise<ForwardResult>
  /** Adds the gradients of the loss. They count as a whole or not at all. */
  forwardBackward<L extends Loss>(
    data: readonly DatumFor<L>[],
    loss: L,
    options?: ForwardOptions,
  ): Promise<ForwardResult>
  /** Throws when no gradient was accumulated. Gradients that are not finite make parameters that are not finite: look at the norm. */
  optimStep(options: OptimStepOptions): Promise<OptimStepResult>
  /** The accumulated gradients; zeros when there are none. */
  gradients(): Promise<ParameterArrays>
  /** Drops the accumulated gradients; nothing else changes. */
  clearGradients(): Promise<void>
  /** The values of the parameters. */
  values(): Promise<ParameterArrays>
  /** Replaces values; those that are not named stay. */
  setValues(values: ParameterArrays): Promise<void>
  /** Writes weights, what the optimisers remember and a manifest into a new folder; the whole folder appears or none. */
  save(folder: string): Promise<void>
  /** Takes up what `save` wrote. Accumulated gradients are dropped. */
  load(folder: string, options?: LoadOptions): Promise<void>
  /** A sampler with the weights as they are now; later steps do not change it. */
  snapshot(options?: SnapshotOptions): Promise<Sampler>
  /** Frees what was compiled; the trainer cannot be used after. */
  dispose(): Promise<void>
}
