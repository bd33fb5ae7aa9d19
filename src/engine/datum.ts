/**
 * What a trainer and a sampler are given: plain records of tokens and numbers. A datum is already shifted: position i of its
 * input predicts target i, so all arrays of one datum have one entry a position (Tinker's convention).
 */

/** Several tokens at each position, as many as one likes: those of position i stand at `offsets[i]` up to `offsets[i + 1]`. */
export interface RaggedTokens {
  readonly tokens: Int32Array
  /** One more than there are positions, from 0 on, never falling. */
  readonly offsets: Int32Array
}

/** What a model reads. Which fields it needs is said by its `inputs`; others are refused. */
export interface ModelInput {
  /** One a position. Ignored by models that read features alone, which still take their number of positions from it. */
  readonly tokens: Int32Array
  /** Of an encoder-decoder: what the encoder reads. Also the history that a memory is asked with. */
  readonly encoderTokens?: Int32Array
  /** Of models that read numbers: positions × features, position after position. */
  readonly features?: Float32Array
}

/**
 * Which distribution over the vocabulary is meant: the logits divided by the temperature, renormalised over what is left when
 * tokens are blocked and, at each position, everything outside a support is taken away.
 */
export interface Distribution {
  /** Default 1. */
  readonly temperature?: number
  /** Tokens that have no probability anywhere. */
  readonly blocked?: readonly number[]
  /** The tokens that have any, position by position; a position without tokens is left as it is. */
  readonly support?: RaggedTokens
}

interface DatumOfAnyLoss {
  readonly input: ModelInput
  /** Whose log-probabilities are meant. Default: the model's own. */
  readonly distribution?: Distribution
  /** False: as if the low-rank adapters were not there. Default true; without adapters there is no difference. */
  readonly adapter?: boolean
}

/** For losses that are weighted sums of log-probabilities. */
export interface CrossEntropyDatum extends DatumOfAnyLoss {
  /** The token that each position should predict; several a position; or every token of the vocabulary, in order. */
  readonly targets: Int32Array | RaggedTokens | 'vocabulary'
  /** One a target (positions × vocabulary for `vocabulary`), of any sign. 0 leaves it out. For a mean over n, use 1/n. */
  readonly weights: Float32Array
}

/** For losses on tokens that a policy drew. */
export interface PolicyDatum extends DatumOfAnyLoss {
  readonly targets: Int32Array
  /** Of the targets, under the policy that drew them, in nats. */
  readonly logProbabilities: Float32Array
  /** 0 leaves a position out. */
  readonly advantages: Float32Array
}

export type Datum = CrossEntropyDatum | PolicyDatum
