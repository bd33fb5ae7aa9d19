/**
 * One Lion step on one parameter, in place.
 */
import type { Lion } from './optimiser.ts'

export interface LionState {
  readonly kind: 'lion'
  readonly momentum: Float32Array
}

export function newLionState(size: number): LionState {
  return { kind: 'lion', momentum: new Float32Array(size) }
}

/** `gradientScale` multiplies the gradient first (clipping). */
export function lionStep(
  values: Float32Array,
  gradient: Float32Array,
  state: LionState,
  optimiser: Lion,
  learningRate: number,
  weightDecay: number,
  gradientScale: number,
): void {
  const [beta1, beta2] = optimiser.betas ?? [0.9, 0.99]
  const { momentum } = state
  const kept = 1 - learningRate * weightDecay
  for (let index = 0; index < values.length; index++) {
    const slope = gradient[index]! * gradientScale
    const past = momentum[index]!
    values[index] = kept * values[index]! - learningRate * Math.sign(beta1 * past + (1 - beta1) * slope)
    momentum[index] = beta2 * past + (1 - beta2) * slope
  }
}
