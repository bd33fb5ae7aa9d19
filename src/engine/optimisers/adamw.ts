/**
 * One AdamW step on one parameter, in place.
 */
import type { AdamW } from './optimiser.ts'

export interface AdamWState {
  readonly kind: 'adamw'
  steps: number
  readonly firstMoment: Float32Array
  readonly secondMoment: Float32Array
}

export function newAdamWState(size: number): AdamWState {
  return { kind: 'adamw', steps: 0, firstMoment: new Float32Array(size), secondMoment: new Float32Array(size) }
}

/** `gradientScale` multiplies the gradient first (clipping). */
export function adamwStep(
  values: Float32Array,
  gradient: Float32Array,
  state: AdamWState,
  optimiser: AdamW,
  learningRate: number,
  weightDecay: number,
  gradientScale: number,
): void {
  const [beta1, beta2] = optimiser.betas ?? [0.9, 0.95]
  const epsilon = optimiser.epsilon ?? 1e-8
  const { firstMoment, secondMoment } = state
  state.steps++
  const stepSize = learningRate / (1 - beta1 ** state.steps)
  const secondCorrection = 1 / Math.sqrt(1 - beta2 ** state.steps)
  const kept = 1 - learningRate * weightDecay
  for (let index = 0; index < values.length; index++) {
    const slope = gradient[index]! * gradientScale
    const first = beta1 * firstMoment[index]! + (1 - beta1) * slope
    const second = beta2 * secondMoment[index]! + (1 - beta2) * slope * slope
    firstMoment[index] = first
    secondMoment[index] = second
    values[index] = kept * values[index]! - (stepSize * first) / (Math.sqrt(second) * secondCorrection + epsilon)
  }
}
