/**
 * An engine: where models are trained and sampled. The embedded one (embedded/) computes in this process or a worker thread of it; others
 * may speak to a cluster. What an engine cannot do is said by its capabilities and refused before anything is computed.
 */
import type { Loss } from './losses/loss.ts'
import type { Model } from './models/model.ts'
import type { Optimiser } from './optimisers/optimiser.ts'
import type { Sampler } from './sampling.ts'
import type { Trainer } from './training.ts'

export interface Capabilities {
  readonly losses: readonly Loss['kind'][]
  /** Several targets a position, and the whole vocabulary. */
  readonly raggedTargets: boolean
  /** Negative weights in cross_entropy, on which custom losses stand. */
  readonly signedWeights: boolean
  /** Losses are sums over tokens; an engine that takes means would make learning rates not portable. */
  readonly reduction: 'sum' | 'mean'
  readonly distributions: boolean
  readonly readouts: boolean
  readonly optimisers: readonly Optimiser['kind'][]
  /** Most tokens of `topLogProbabilities`. */
  readonly maximumTopLogProbabilities: number
  readonly prefixes: boolean
  readonly beamSearch: boolean
  readonly mismatch: boolean
}

/** Low-rank adapters (Hu et al., 2022): a matrix W becomes W + (alpha / rank) A B, and only A and B are trained. */
export interface Adapters {
  readonly rank: number
  /** Default: the rank. */
  readonly alpha?: number
  /** Which matrices, by the end of their names: `attention.query`. Default: all parameters of role matrix. */
  readonly projections?: readonly string[]
}

export interface TrainerOptions {
  readonly model: Model
  /** Of the initial parameters, of adapters and of dropout masks. Default 0. */
  readonly seed?: number
  /** Initial values, by name, for those that are given. They are shared, not copied, where they are not trained. */
  readonly values?: ReadonlyMap<string, Float32Array>
  /** Trains these alone; the base stays as it is and is shared with snapshots. */
  readonly adapters?: Adapters
}

export interface Engine {
  readonly capabilities: Capabilities
  createTrainer(options: TrainerOptions): Promise<Trainer>
  /** The trainer that was saved, model and all. */
  loadTrainer(folder: string): Promise<Trainer>
  /** A sampler of the weights that were saved. */
  loadSampler(folder: string): Promise<Sampler>
  /** Ends all of its trainers and samplers. */
  dispose(): Promise<void>
}
