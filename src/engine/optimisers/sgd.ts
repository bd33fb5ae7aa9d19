/**
 * One step of stochastic gradient descent with momentum on one parameter, in place.
 */
import type { Sgd } from './optimiser.ts'

export interface SgdState {
  readonly kind: 'sgd'
  readonly momentum: Float32Array
}

export function newSgdState(size: number): SgdState {
  return { kind: 'sgd', momentum: new Float32Array(size) }
}

/** `gradientScale` multiplies the gradient first (clipping). */
export function sgdStep(
  values: Float32Array,
  gradient: Float32Array,
  state: SgdState,
  optimiser: Sgd,
  learningRate: number,
  weightDecay: number,
  gradientScale: number,
): void {
  const mu = optimiser.momentum ?? 0.9
  const nesterov = optimiser.nesterov ?? false
  const { momentum } = state
  const kept = 1 - learningRate * weightDecay
  for (let index = 0; index < values.length; index++) {
    const slope = gradient[index]! * gradientScale
    const velocity = mu * momentum[index]! + slope
    momentum[index] = velocity
    values[index] = kept * values[index]! - learningRate * (nesterov ? slope + mu * velocity : velocity)
  }
}
