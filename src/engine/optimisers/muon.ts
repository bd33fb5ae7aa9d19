/**
 * One Muon step on one matrix, in two halves, for the orthogonalisation between them is done for all matrices at once.
 */
import type { Muon } from './optimiser.ts'

export interface MuonState {
  readonly kind: 'muon'
  readonly momentum: Float32Array
}

export function newMuonState(size: number): MuonState {
  return { kind: 'muon', momentum: new Float32Array(size) }
}

/** Takes the gradient into the momentum and returns the direction that is to be made orthogonal. */
export function muonDirection(
  gradient: Float32Array,
  state: MuonState,
  optimiser: Muon,
  gradientScale: number,
): Float32Array {
  const beta = optimiser.momentum ?? 0.95
  const nesterov = optimiser.nesterov ?? true
  const direction = new Float32Array(gradient.length)
  for (let index = 0; index < gradient.length; index++) {
    const slope = gradient[index]! * gradientScale
    const momentum = beta * state.momentum[index]! + (1 - beta) * slope
    state.momentum[index] = momentum
    direction[index] = nesterov ? beta * momentum + (1 - beta) * slope : momentum
  }
  return direction
}

/** Moves a matrix (inputs, outputs) by its orthogonal direction times sqrt(max(1, outputs / inputs)), in place. */
export function muonMove(
  values: Float32Array,
  direction: Float32Array,
  shape: readonly number[],
  learningRate: number,
  weightDecay: number,
): void {
  const stepSize = learningRate * Math.sqrt(Math.max(1, shape[1]! / shape[0]!))
  const kept = 1 - learningRate * weightDecay
  for (let index = 0; index < values.length; index++)
    values[index] = kept * values[index]! - stepSize * direction[index]!
}
