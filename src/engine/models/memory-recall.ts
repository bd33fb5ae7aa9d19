/**
 * How a model uses its memory: what it asks with, and where the answer goes. The answer is added to the hidden state
 * after one of the blocks, so that the blocks that follow can use it; with values that are 0 the model is what it would
 * be without.
 */
import { add } from '../algebra/arithmetic.ts'
import { concatenate, reshape, slice } from '../algebra/arrangement.ts'
import { real } from '../algebra/attention-mask.ts'
import { broadcastTo, zeros } from '../algebra/broadcast.ts'
import { toFloat } from '../algebra/cast.ts'
import { tanh } from '../algebra/functions.ts'
import { lookUpRows } from '../algebra/lookup.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { rootMeanSquareNorm } from '../algebra/root-mean-square.ts'
import type { Tensor } from '../graph/graph.ts'
import type { MemoryConfiguration } from './memory-configuration.ts'
import { type MemoryAnswer, memoryLayer } from './memory-layer.ts'
import type { BuildInputs } from './model.ts'

type Parameters = ReadonlyMap<string, Tensor>

/** Each hidden state, normed without a gain, asks for itself. */
export function askByState(memory: MemoryConfiguration, parameters: Parameters, hidden: Tensor): MemoryAnswer {
  return memoryLayer(memory, parameters, rootMeanSquareNorm(hidden))
}

/**
 * Each row asks once with all that the encoder is given, however much of it the rest of the model reads: the normed sum
 * over its tokens of tanh([token, token before] history). Its cost grows with the length, not with the square of it,
 * and which token follows which counts.
 */
export function askByHistory(
  memory: MemoryConfiguration,
  parameters: Parameters,
  embedding: Tensor,
  { positions, tokens, lengths }: NonNullable<BuildInputs['encoder']>,
): MemoryAnswer {
  const [rows] = lengths.shape as [number]
  const width = embedding.shape[1]!
  const embedded = reshape(rootMeanSquareNorm(lookUpRows(embedding, tokens)), [rows, positions, width])
  const none = zeros(embedding.graph, [rows, 1, width])
  const before = positions === 1 ? none : concatenate([none, slice(embedded, 1, 0, positions - 1)], 1)
  const pairs = reshape(concatenate([embedded, before], 2), [rows * positions, 2 * width])
  const states = tanh(matrixProduct(pairs, parameters.get('memory.history')!))
  const counted = toFloat(real(lengths, positions))
  const pooled = matrixProduct(counted, reshape(states, [rows, positions, width]))
  return memoryLayer(memory, parameters, rootMeanSquareNorm(reshape(pooled, [rows, width])))
}

/** A hidden state (rows × positions, width) and what is added to it: as many, or one for each row. */
export function addAnswer(hidden: Tensor, added: Tensor): Tensor {
  return add(hidden, repeated(added, hidden.shape[0]!))
}

/** The read-outs of a memory with their sizes: the numbers of the slots, best first, and their weights. */
export function memoryReadouts({ chosen }: MemoryConfiguration): Record<string, number> {
  return { 'memory.slots': chosen, 'memory.weights': chosen }
}

/** (count, size) each. */
export function answerReadouts({ slots, weights }: MemoryAnswer, count: number): [string, Tensor][] {
  return [
    ['memory.slots', repeated(slots, count)],
    ['memory.weights', repeated(weights, count)],
  ]
}

/** Rows, each as many times in a row as it takes to make `count` of them. */
function repeated(a: Tensor, count: number): Tensor {
  const [rows, size] = a.shape as [number, number]
  return reshape(broadcastTo(reshape(a, [rows, 1, size]), [rows, count / rows, size]), [count, size])
}
