/**
 * How parameters move: what a caller says to `optimStep`.
 */
import type { Parameter, ParameterRole } from '../parameter.ts'

/** Adam with bias correction and decoupled weight decay (Loshchilov and Hutter, 2019, algorithm 2; as torch.optim.AdamW). */
export interface AdamW {
  readonly kind: 'adamw'
  /** Default (0.9, 0.95). */
  readonly betas?: readonly [number, number]
  /** Default 1e-8; added to the root of the corrected second moment. */
  readonly epsilon?: number
}

/**
 * Momentum whose step is made orthogonal by Newton-Schulz iterations (Jordan et al., 2024). Takes matrices only (two
 * dimensions). The step is scaled by `sqrt(max(1, outputs / inputs))`.
 */
export interface Muon {
  readonly kind: 'muon'
  /** Default 0.95. */
  readonly momentum?: number
  /** Default true. */
  readonly nesterov?: boolean
  /** Default 5. */
  readonly newtonSchulzSteps?: number
}

/**
 * The sign of a momentum that looks ahead (Chen et al., 2023, "Symbolic discovery of optimization algorithms", algorithm 2): every
 * element moves by the learning rate, which is therefore usually three to ten times smaller than AdamW's.
 */
export interface Lion {
  readonly kind: 'lion'
  /** Share of the past in what the sign is taken of, and in what is remembered. Default (0.9, 0.99). */
  readonly betas?: readonly [number, number]
}

/**
 * Gradient descent with momentum: as torch.optim.SGD without dampening, except that its weight decay goes into the gradient and so
 * through the momentum, and ours never does (it is decoupled for all optimisers). Without momentum the two are the same.
 */
export interface Sgd {
  readonly kind: 'sgd'
  /** Default 0.9; 0 for none. */
  readonly momentum?: number
  /** Default false. */
  readonly nesterov?: boolean
}

export type Optimiser = AdamW | Muon | Lion | Sgd

export interface ParameterGroup {
  /**
   * Which parameters: a role, several, or a predicate. A parameter belongs to the first group that matches it. There may be none of a role; a
   * predicate has to hold for one at least.
   */
  readonly match: ParameterRole | readonly ParameterRole[] | ((parameter: Parameter) => boolean)
  readonly optimiser: Optimiser
  readonly learningRate: number
  /** Decoupled: each step multiplies the parameter by `1 - learningRate * weightDecay`. Default 0. */
  readonly weightDecay?: number
  /** Frozen parameters do not move, and their gradients do not count towards the clipping norm. Default false. */
  readonly frozen?: boolean
}

export interface OptimStepOptions {
  /** Every parameter must belong to one. */
  readonly groups: readonly ParameterGroup[]
  /** Gradients are scaled down to this global norm when theirs is larger; null or absent: never. */
  readonly clipNorm?: number | null
}

export interface OptimStepResult {
  /** Global L2 norm of the accumulated gradients before clipping, over parameters that are not frozen. */
  readonly gradientNorm: number
}
