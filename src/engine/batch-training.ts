/**
 * A model in training, with the verbs that methods are written against: forward, forwardBackward, optimStep.
 */
import type { OptimStepOptions, OptimStepResult } from './optimisers/optimiser.ts'
import type { Parameter } from './parameter.ts'

/** Rows of equal length, row after row: every array has rows × sequence elements. Any number of rows. */
export interface TokenBatch {
  readonly tokens: Int32Array
  /** The token that each position should predict. */
  readonly targets: Int32Array
  /** Weight of each position in the loss; 0 leaves it out. For a mean over n positions, use 1/n. */
  readonly weights: Float32Array
}

export interface ForwardResult {
  /** Sum over positions of weight × (-log p(target)), in nats. Without the z-loss. */
  readonly lossSum: number
  /** Sum over positions of weight × zLoss × (log of the sum of exponentiated logits)², which is part of what is differentiated. */
  readonly zLossSum: number
  /** log p(target) at each position, in nats, unweighted. */
  readonly tokenLogProbabilities: Float32Array
}

/**
 * Gradients accumulate over calls of `forwardBackward` until `optimStep`, which applies and clears them. Calls must
 * not overlap: await each. The calling thread is blocked while it computes, not only busy.
 */
export interface Trainer {
  /** In a fixed order. */
  readonly parameters: readonly Parameter[]
  readonly sequence: number
  forward(batch: TokenBatch): Promise<ForwardResult>
  /** Adds the gradients of lossSum + zLossSum. */
  forwardBackward(batch: TokenBatch): Promise<ForwardResult>
  /** Throws when no gradient was accumulated. Gradients that are not finite make parameters that are not finite: look at the norm. */
  optimStep(options: OptimStepOptions): Promise<OptimStepResult>
  /** The accumulated gradients by parameter name; zeros when there are none. Live views: copy what must outlast the next call. */
  gradients(): ReadonlyMap<string, Float32Array>
  /** Values by parameter name. Live views: writing to them changes the model. */
  values(): ReadonlyMap<string, Float32Array>
  /** Frees the compiled graphs; the trainer cannot be used after. */
  dispose(): Promise<void>
}
