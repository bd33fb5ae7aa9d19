/**
 * A sampler: an immutable snapshot of weights that draws tokens and scores given ones, until it is disposed of.
 */
import type { Distribution, ModelInput, RaggedTokens } from './datum.ts'

export interface Quantisation {
  readonly bits: 4 | 8
  /** Numbers along the inputs of a matrix that share a scale. Default 32. */
  readonly groupSize?: number
}

/** Ways in which a sampler may differ from the trainer on purpose. */
export interface SnapshotOptions {
  /** Matrices, embeddings and heads are rounded to few bits and back. */
  readonly quantisation?: Quantisation
  /** Added to the logits, one a token of the vocabulary. */
  readonly logitOffset?: Float32Array
  /** In the place of the trainer's, for the parameters that are named: an average over steps, for one. They are copied. */
  readonly values?: ReadonlyMap<string, Float32Array>
}

/**
 * The context of a row that was already computed. Immutable: any number of requests may start from it, and extending it makes
 * another one. It lives as long as its sampler.
 */
export interface Prefix {
  readonly length: number
  /** The tokens of the prefix, in order. */
  readonly tokens: Int32Array
}

export interface SampleRequest {
  /** What the model continues: tokens (with an encoder's input where it has one), or a prefix that was computed before. */
  readonly prompt: ModelInput | Prefix
  /** How many samples; default 1. */
  readonly samples?: number
  /** Number of the first sample: more samples of a request, drawn later, are those of one larger call. Default 0. */
  readonly firstSample?: number
  /** Most tokens to draw for each, the stop included. */
  readonly maximumTokens: number
  /**
   * Draws depend on the seed, the key, the number of the sample and the place of the token in the whole text, prompt
   * included, and on nothing else that is in the call. Default 0.
   */
  readonly seed?: number
  /** Tells apart requests of one seed. Default: the prompt's tokens, so that equal prompts give equal samples. */
  readonly key?: string | number
  /** Default 1; 0 takes the most probable token. Others are at least 1e-6, below which float32 is too coarse. */
  readonly temperature?: number
  /** At most this many most probable tokens, after temperature and blocked tokens. Default: all. */
  readonly topK?: number
  /**
   * Smallest set of most probable tokens that together have at least this part of the probability that topK leaves.
   * Default 1: all.
   */
  readonly topP?: number
  /** Sequences of tokens that end a sample; the one that ended it is part of the sample. Default none. */
  readonly stop?: readonly (readonly number[])[]
  /** Tokens that are never drawn. Default none. */
  readonly blocked?: readonly number[]
  /** Return that many most probable tokens at each drawn position, before anything is taken away. Default 0. */
  readonly topLogProbabilities?: number
  /** Return the tokens that could be drawn at each position, where top-p or top-k took some away. Default false. */
  readonly returnSupport?: boolean
  /** Return the prefix of each sample, its tokens included, to go on from. Default false. */
  readonly keepPrefix?: boolean
}

/** At each position the most probable tokens, most probable first: positions × `count`, position after position. */
export interface TopLogProbabilities {
  readonly count: number
  readonly tokens: Int32Array
  readonly logProbabilities: Float32Array
}

export interface Sample {
  readonly tokens: Int32Array
  /** Of the drawn tokens under the model itself (temperature 1, nothing taken away), in nats. */
  readonly logProbabilities: Float32Array
  /** Under the distribution they were drawn from. At temperature 0 they are 0. */
  readonly drawnLogProbabilities: Float32Array
  /** `stop`: a stop sequence was drawn; `length`: the maximum was reached. */
  readonly stopReason: 'stop' | 'length'
  /**
   * Under the model itself, so that blocked tokens are among them. As drawn, tokens that were possible have theirs / temperature - c, where c
   * is one number a position: of the drawn token, logProbability / temperature - drawnLogProbability.
   */
  readonly topLogProbabilities?: TopLogProbabilities
  /**
   * What it was drawn from, as `forward` takes it, for the drawn positions alone. The support is there when it was asked
   * for; at temperature 0 always: a token is drawn from itself alone.
   */
  readonly distribution: Distribution
  readonly prefix?: Prefix
}

export interface ScoreRequest {
  /** What was computed before: the input's tokens stand behind it, and it is not computed again. Default: nothing. */
  readonly prefix?: Prefix
  /** Position i is scored on target i. Behind a prefix, positions are the input's alone, and an encoder's input is the prefix's. */
  readonly input: ModelInput
  /** One a position, or several. */
  readonly targets: Int32Array | RaggedTokens
  readonly distribution?: Distribution
  /**
   * False: as if the low-rank adapters were not there. Default true. Prefixes are computed with adapters, so that without them the whole text
   * is read again.
   */
  readonly adapter?: boolean
  /** Return that many most probable tokens at each position, under the model itself. Default 0. */
  readonly topLogProbabilities?: number
}

export interface Score {
  /** Of the targets, in nats, in the order of the targets. Minus infinity where the distribution leaves a target no probability. */
  readonly logProbabilities: Float32Array
  readonly topLogProbabilities?: TopLogProbabilities
}

export interface BeamRequest {
  readonly prompt: ModelInput
  readonly beams: number
  readonly maximumTokens: number
  /** Single tokens that end a beam. */
  readonly stop: readonly number[]
  /** Restricts what may follow: a state machine over tokens (a trie of allowed sequences, for one). */
  readonly constraint?: Transitions
}

/** From state 0, the tokens that are allowed in a state and the state that each leads to. A state without any ends a beam. */
export interface Transitions {
  readonly next: readonly ReadonlyMap<number, number>[]
}

export interface Beam {
  readonly tokens: Int32Array
  /** Sum over the tokens, in nats; beams come in falling order of it. Not renormalised by a constraint. */
  readonly logProbability: number
  readonly stopReason: 'stop' | 'length'
}

export interface CallOptions {
  /** Ends the call with the signal's reason, between two pieces of work. */
  readonly signal?: AbortSignal
}

export interface Sampler {
  /** The trainer's version when it was taken. */
  readonly version: number
  readonly vocabulary: number
  readonly contextLength: number
  /** By request, then by sample. A bidirectional model cannot be continued, here and in beams: see diffusion/. */
  sample(requests: readonly SampleRequest[], options?: CallOptions): Promise<readonly (readonly Sample[])[]>
  /** By request, best first. */
  beamSearch(requests: readonly BeamRequest[], options?: CallOptions): Promise<readonly (readonly Beam[])[]>
  score(requests: readonly ScoreRequest[], options?: CallOptions): Promise<readonly Score[]>
  /** The log-probability of every token at every position: positions × vocabulary, by input. As in scores. */
  distributions(
    inputs: readonly { readonly input: ModelInput; readonly distribution?: Distribution; readonly adapter?: boolean }[],
    options?: CallOptions,
  ): Promise<readonly Float32Array[]>
  /** Computes a prompt once, for any number of requests. */
  prefix(prompt: ModelInput): Promise<Prefix>
  /** A prefix with more tokens, from the part that is computed already. */
  extend(prefix: Prefix, tokens: Int32Array): Promise<Prefix>
  /** Weights and prefixes are freed; whatever is asked after is refused. */
  dispose(): Promise<void>
}
