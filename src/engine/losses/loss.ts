/**
 * The losses that every engine computes by itself, as Tinker defines them: sums over tokens, never means. Below, lp is the
 * log-probability of a target, q the one under the policy that drew it, A its advantage, r = exp(lp - q), and sg(x) is x
 * without a gradient.
 */
import type { CrossEntropyDatum, PolicyDatum } from '../datum.ts'

/** -Σ weight × lp. */
export interface CrossEntropy {
  readonly kind: 'cross_entropy'
  /** lp becomes (1 - s) lp + s × the mean log-probability over the vocabulary. Single targets only. Default 0. */
  readonly labelSmoothing?: number
  /**
   * Adds zLoss × weight × log(sum of exponentiated logits)² (PaLM, Chowdhery et al., 2022, section 5), of the model's own logits whatever the
   * distribution. Single targets only. Default 0.
   */
  readonly zLoss?: number
  /** Adds this times the same loss, without zLoss, on the model's inner state (LION's consolidation loss), for models that have one. Default 0. */
  readonly innerStateWeight?: number
}

/** -Σ r A. */
export interface ImportanceSampling {
  readonly kind: 'importance_sampling'
}

/** -Σ min(r A, clip(r, low, high) A). The bounds are ratios. */
export interface Ppo {
  readonly kind: 'ppo'
  /** Default 0.8. */
  readonly clipLow?: number
  /** Default 1.2. */
  readonly clipHigh?: number
}

/** -Σ sg(clip(r, low, high)) A lp. */
export interface Cispo {
  readonly kind: 'cispo'
  /** Default 0. */
  readonly clipLow?: number
  /** Default 4. */
  readonly clipHigh?: number
}

/**
 * -Σ (lp A - beta/2 (lp - q)²). An A of 0 leaves a position out, and its penalty with it, for prompts have 0 and should not be pulled anywhere;
 * where a drawn token is worth 0, an A of 1e-30 keeps the penalty.
 */
export interface Dro {
  readonly kind: 'dro'
  readonly beta: number
}

export type PolicyLoss = ImportanceSampling | Ppo | Cispo | Dro
export type Loss = CrossEntropy | PolicyLoss
export type DatumFor<L extends Loss> = L extends CrossEntropy ? CrossEntropyDatum : PolicyDatum
