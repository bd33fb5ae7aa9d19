/**
 * The options of the decoder transformer, what makes them valid, and the size and cost that follow from them.
 */

export interface DecoderConfiguration {
  /** Number of token ids. */
  readonly vocabulary: number
  /** Longest sequence that the model is meant for. */
  readonly contextLength: number
  /** Number of blocks. */
  readonly depth: number
  /** Size of the hidden state; a multiple of `heads`. */
  readonly width: number
  readonly heads: number
  /** Heads of keys and values, each shared by `heads / keyValueHeads` query heads. */
  readonly keyValueHeads: number
  /** Default: 4 × width, or 8/3 × width rounded up to a multiple of 8 for SwiGLU, which has three matrices for two. */
  readonly feedForwardWidth?: number
  /** Rotary embedding with base 10,000 on halves of each head (needs an even head size), or nothing but the causal mask. */
  readonly positions: 'rotary' | 'none'
  /** RMS norm with gains before each branch, or on its output before it is added; a last norm before the head in both. */
  readonly norm: 'pre' | 'post'
  /** RMS norm with gains of queries and keys, per head, before positions are applied. */
  readonly queryKeyNorm: boolean
  /** GELU in its tanh form. */
  readonly activation: 'gelu' | 'swiglu' | 'relu-squared'
  /** The head is the transposed embedding. */
  readonly tiedEmbeddings: boolean
  /** Logits become `cap * tanh(logits / cap)`; null: as they are. */
  readonly logitSoftCap: number | null
  /** Factor on every initial standard deviation: 1/sqrt(inputs) of a matrix, 1/sqrt(width) of the embedding, a quarter of it for a head of its own. */
  readonly initialisationScale: number
  /** `depth`: each branch is multiplied by 1/sqrt(2 × depth) before it is added. */
  readonly residualScaling: 'none' | 'depth'
}
