/**
 * A fixed error of a sampler: a number a token, added to the logits.
 */
import { seededRandom } from '../../statistics/random.ts'
import { described, requireNumbers } from '../required-types.ts'

/** Normal numbers of a given standard deviation, for `logitOffset` of a snapshot. The same at the same seed. */
export function randomLogitOffset(vocabulary: number, standardDeviation: number, seed: number): Float32Array {
  if (!(Number.isFinite(standardDeviation) && standardDeviation >= 0))
    throw new Error(
      `randomLogitOffset: the standard deviation is ${described(standardDeviation)}: expected a number from 0 on`,
    )
  const random = seededRandom(seed).fork('logit offset')
  return Float32Array.from({ length: vocabulary }, () => standardDeviation * random.normal())
}

/** Throws a sentence for an offset that does not fit a vocabulary. */
export function checkLogitOffset(offset: Float32Array, vocabulary: number): void {
  requireNumbers('logitOffset', offset)
  if (offset.length !== vocabulary)
    throw new Error(`logitOffset: there are ${offset.length} numbers for a vocabulary of ${vocabulary} tokens`)
  const wrong = offset.findIndex(value => !Number.isFinite(value))
  if (wrong >= 0) throw new Error(`logitOffset: the number of token ${wrong} is ${offset[wrong]}; it must be finite`)
}
