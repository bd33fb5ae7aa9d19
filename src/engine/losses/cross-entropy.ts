/**
 * Cross-entropy as a graph: -Σ weight × log-probability of the targets, with label smoothing and the z-loss.
 */
import { add, multiply, negate, scale } from '../algebra/arithmetic.ts'
import { sum } from '../algebra/broadcast.ts'
import { square } from '../algebra/functions.ts'
import { total } from '../algebra/reduction.ts'
import { logSoftmax, logSumExp } from '../algebra/softmax.ts'
import type { Tensor } from '../graph/graph.ts'
import { type Targets, targetLogProbabilities } from './target-log-probability.ts'

export interface CrossEntropyTensors {
  /** Of the targets, as they are: (n, targets of a position). */
  readonly logProbabilities: Tensor
  /** What each target adds: -weight × its log-probability, smoothed where that is asked for. */
  readonly losses: Tensor
  /** A scalar; null when there is no z-loss. */
  readonly zLossSum: Tensor | null
  /** What is differentiated: a scalar. */
  readonly objective: Tensor
}

export interface CrossEntropyOptions {
  /** As in loss.ts (Szegedy et al., 2016). */
  readonly labelSmoothing?: number
  /** As in loss.ts (PaLM, Chowdhery et al., 2022, section 5). */
  readonly zLoss?: number
  /** The model's own logits, which the z-loss is about, where `logits` are tempered or masked. */
  readonly modelLogits?: Tensor
}

/** Logits (n, vocabulary); weights of the shape of the log-probabilities. */
export function crossEntropy(
  logits: Tensor,
  targets: Targets,
  weights: Tensor,
  { labelSmoothing = 0, zLoss = 0, modelLogits = logits }: CrossEntropyOptions = {},
): CrossEntropyTensors {
  const logProbabilities = targetLogProbabilities(logits, targets)
  const smoothed = labelSmoothing === 0 ? logProbabilities : smooth(logProbabilities, logits, labelSmoothing)
  const losses = negate(multiply(weights, smoothed))
  const lossSum = total(losses)
  if (zLoss === 0) return { logProbabilities, losses, zLossSum: null, objective: lossSum }
  const zLossSum = scale(total(multiply(weights, square(logSumExp(modelLogits)))), zLoss)
  return { logProbabilities, losses, zLossSum, objective: add(lossSum, zLossSum) }
}

function smooth(logProbabilities: Tensor, logits: Tensor, amount: number): Tensor {
  const all = sum(logSoftmax(logits), [-1])
  return add(scale(logProbabilities, 1 - amount), scale(all, amount / logits.shape[1]!))
}
