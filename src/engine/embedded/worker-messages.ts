/**
 * What goes between the main thread and the engine's thread: plain data, which are copied, and numbers that stand for the objects of
 * the engine's thread.
 */
import type { ModelInput } from '../datum.ts'
import type { Capabilities, TrainerOptions } from '../engine.ts'
import type { OptimStepOptions, ParameterGroup } from '../optimisers/optimiser.ts'
import type { Parameter } from '../parameter.ts'
import type { BeamRequest, Prefix, Sample, SampleRequest, ScoreRequest } from '../sampling.ts'
import type { Trainer } from '../training.ts'
import type { EmbeddedEngineOptions } from './engine-options.ts'

/** What the thread begins with. */
export interface WorkerData {
  readonly options: EmbeddedEngineOptions
  /** Of NativeCalls. */
  readonly calls: SharedArrayBuffer
}

/** Functions cannot go to another thread: a model goes as what says everything about it. */
export interface SentTrainerOptions extends Omit<TrainerOptions, 'model'> {
  readonly model: { readonly kind: string; readonly configuration: object }
}

/** A group whose predicate was answered already: the parameters that it holds for. */
export interface SentGroup extends Omit<ParameterGroup, 'match'> {
  readonly match:
    | Exclude<ParameterGroup['match'], (...given: never[]) => boolean>
    | { readonly names: readonly string[] }
}

export interface SentOptimStepOptions extends Omit<OptimStepOptions, 'groups'> {
  readonly groups: readonly SentGroup[]
}

/** In the place of a prefix: which one. */
export interface SentPrefix {
  readonly prefixNumber: number
  readonly length: number
  readonly tokens: Int32Array
}

/** A prefix of the thread, or one of elsewhere, which it will refuse. */
export type NamedPrefix = Pick<SentPrefix, 'prefixNumber'> | Prefix

export interface SentSampleRequest extends Omit<SampleRequest, 'prompt'> {
  readonly prompt: SampleRequest['prompt'] | NamedPrefix
}

export interface SentBeamRequest extends Omit<BeamRequest, 'prompt'> {
  readonly prompt: BeamRequest['prompt'] | NamedPrefix
}

export interface SentScoreRequest extends Omit<ScoreRequest, 'prefix'> {
  readonly prefix?: NamedPrefix | undefined
}

export interface SentSample extends Omit<Sample, 'prefix'> {
  readonly prefix?: SentPrefix
}

export interface SentSampler {
  readonly number: number
  readonly vocabulary: number
  readonly contextLength: number
  readonly version: number
}

export interface SentTrainer extends SentSampler {
  readonly parameters: readonly Parameter[]
}

/** Verbs that are carried out as they are, on what they are given. */
export type PlainTrainerVerb =
  | 'forward'
  | 'forwardBackward'
  | 'gradients'
  | 'clearGradients'
  | 'values'
  | 'setValues'
  | 'save'
  | 'load'
export type PlainSamplerVerb = 'distributions'

/** `trainer`, `sampler`: the number that stands for it. */
export type Work =
  | { readonly verb: 'createTrainer'; readonly options: SentTrainerOptions }
  | { readonly verb: 'loadTrainer' | 'loadSampler'; readonly folder: string }
  | { readonly verb: 'disposeEngine' }
  | { readonly verb: PlainTrainerVerb; readonly trainer: number; readonly given: readonly unknown[] }
  | { readonly verb: 'optimStep'; readonly trainer: number; readonly options: SentOptimStepOptions }
  | { readonly verb: 'snapshot'; readonly trainer: number; readonly given: Parameters<Trainer['snapshot']> }
  | { readonly verb: 'disposeTrainer'; readonly trainer: number }
  | { readonly verb: PlainSamplerVerb; readonly sampler: number; readonly given: readonly unknown[] }
  | { readonly verb: 'sample'; readonly sampler: number; readonly requests: readonly SentSampleRequest[] }
  | { readonly verb: 'beamSearch'; readonly sampler: number; readonly requests: readonly SentBeamRequest[] }
  | { readonly verb: 'score'; readonly sampler: number; readonly requests: readonly SentScoreRequest[] }
  | { readonly verb: 'prefix'; readonly sampler: number; readonly prompt: ModelInput | NamedPrefix }
  | { readonly verb: 'extend'; readonly sampler: number; readonly prefix: NamedPrefix; readonly tokens: Int32Array }
  | { readonly verb: 'disposeSampler'; readonly sampler: number }

export type ToThread =
  | { readonly kind: 'call'; readonly call: number; readonly work: Work }
  | { readonly kind: 'cancel'; readonly call: number }
  /** Nothing in the main thread refers to the prefix any more. */
  | { readonly kind: 'release'; readonly prefix: number }
  | { readonly kind: 'releaseSampler'; readonly sampler: number }

export type FromThread =
  | { readonly kind: 'ready'; readonly capabilities: Capabilities }
  | { readonly kind: 'failed'; readonly message: string }
  /** `version`: of the trainer that was asked, now. */
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown; readonly version?: number }
  | { readonly kind: 'refusal'; readonly call: number; readonly message: string; readonly cancelled: boolean }
