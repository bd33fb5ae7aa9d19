/**
 * What makes a network a model that the engine can train, save and sample: a new model is a file with a function that returns
 * this. It is built as a graph (graph/, algebra/); gradients, batches, losses and optimisers come from the engine.
 */
import type { Graph, Tensor } from '../graph/graph.ts'
import type { Parameter } from '../parameter.ts'

export interface ModelInputs {
  /** Whether the tokens are read; false for models that read features alone. */
  readonly tokens: boolean
  /** Whether there is an encoder, or a memory that is asked with a history, with tokens of its own. */
  readonly encoderTokens: boolean
  /** Of the encoder's tokens. Default: the model's own. */
  readonly encoderVocabulary?: number
  /** Longest input of the encoder, in positions. Default: any. */
  readonly encoderContextLength?: number
  /** Numbers that are read at each position; 0 for none. */
  readonly features: number
}

/** What a model is built from: parameters and a padded batch, all tensors of one graph. */
export interface BuildInputs {
  readonly graph: Graph
  /** By name. Tensors of the parameters' shapes, not always plain inputs: adapters are already added. */
  readonly parameters: ReadonlyMap<string, Tensor>
  readonly rows: number
  readonly positions: number
  /** Token ids (rows × positions), row after row; 0 in padding. */
  readonly tokens: Tensor
  /** Real positions of each row: (rows) int32, from 1 to positions. Padding follows them. Causal models may ignore it. */
  readonly lengths: Tensor
  readonly encoder?: { readonly positions: number; readonly tokens: Tensor; readonly lengths: Tensor }
  /** (rows × positions, features). */
  readonly features?: Tensor
  /** Applies dropout to a tensor, or nothing where it is off. Names are unique within a model: masks are drawn by them. */
  dropout(name: string, tensor: Tensor, rate: number): Tensor
}

export interface ModelOutputs {
  /** (rows × positions, vocabulary). */
  readonly logits: Tensor
  /** Logits of an inner state, for a second loss; absent where there is none. */
  readonly innerLogits?: Tensor
  /** By the names in `readouts`: (rows × positions, size). Only what is captured is computed. */
  readonly readouts: ReadonlyMap<string, Tensor>
}

/** An array that a model keeps of the positions it has seen, so as not to compute them again. */
export interface CacheEntry {
  readonly name: string
  /** Of one row. */
  readonly shape: readonly number[]
  /**
   * The axis that counts positions, whose size is the capacity; null for what does not grow (an encoder's keys and
   * values). Where a row's encoder has read less than others', what does not grow is filled up with zeros: they must
   * not count.
   */
  readonly axis: number | null
}

/** Some of the positions that rows have seen, with those that a step adds. */
export interface CachePart {
  /** Positions that the part has room for. */
  readonly capacity: number
  /** Where a new position sees one of the part: bool (rows or 1, new positions or 1, capacity). */
  readonly seen: Tensor
  /** The place in its row of each of the part, where it is seen: int32 (rows or 1, capacity). */
  readonly places: Tensor
}

/** What rows have seen, step by step. Attention over it is algebra/cached-attention.ts. */
export interface RowCache {
  /** Oldest first. All entries that grow have the same parts. */
  readonly parts: readonly CachePart[]
  /**
   * Adds the new positions of an entry, (rows, …shape) with their number on the axis; to be called once for each. Gives back all of it, part
   * by part, with a part's capacity on the axis.
   */
  extend(entry: string, fresh: Tensor): readonly Tensor[]
  /** An entry that does not grow: (rows, …shape). */
  fixed(entry: string): Tensor
}

/** New positions of rows that have a past. */
export interface StepInputs {
  readonly graph: Graph
  readonly parameters: ReadonlyMap<string, Tensor>
  readonly rows: number
  /** New positions of each row. */
  readonly count: number
  /** (rows × count). */
  readonly tokens: Tensor
  /** The place in its row of each new position: int32 (rows, count). */
  readonly places: Tensor
  /** All places, of new positions and of earlier ones, are below. */
  readonly placesBelow: number
  readonly cache: RowCache
}

export interface StepOutputs {
  /** (rows × count, vocabulary). */
  readonly logits: Tensor
}

/** How a model goes on from what it has seen. Step by step its logits are those of `build` on the whole. */
export interface IncrementalModel {
  entries(capacity: number, encoderPositions: number): readonly CacheEntry[]
  step(inputs: StepInputs): StepOutputs
  /** Of an encoder-decoder: fills the entries that do not grow. */
  encode?(inputs: Omit<BuildInputs, 'tokens' | 'lengths' | 'positions' | 'dropout'>): ReadonlyMap<string, Tensor>
}

export interface Model {
  /** Which builder made it, as a checkpoint says it: decoder, encoder-decoder, … */
  readonly kind: string
  /** Plain data that JSON can hold. With the kind it says everything but the values of the parameters. */
  readonly configuration: object
  readonly vocabulary: number
  readonly contextLength: number
  readonly inputs: ModelInputs
  /** Whether positions see later ones, so that no text can be continued token by token. Default false. */
  readonly seesAhead?: boolean
  readonly parameters: readonly Parameter[]
  /** What can be captured, with the size of one position. */
  readonly readouts: Readonly<Record<string, number>>
  initialValues(seed: number): Map<string, Float32Array>
  build(inputs: BuildInputs): ModelOutputs
  /** Null: can only be sampled by computing everything anew for each token. */
  readonly incremental: IncrementalModel | null
}
