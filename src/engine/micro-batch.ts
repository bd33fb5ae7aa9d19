/**
 * A batch of any number of rows, cut into pieces of a fixed number; the last is padded with rows of weight 0.
 */
import type { TokenBatch } from './batch-training.ts'

/** Throws a sentence when the arrays do not have the same length, or not whole rows. */
export function microBatches(batch: TokenBatch, rows: number, sequence: number): TokenBatch[] {
  const { tokens, targets, weights } = batch
  const count = tokens.length
  if (targets.length !== count || weights.length !== count)
    throw new Error(
      `The batch has ${count} tokens, ${targets.length} targets and ${weights.length} weights: expected as many of each`,
    )
  if (count === 0 || count % sequence !== 0)
    throw new Error(`The batch has ${count} tokens: expected whole rows of ${sequence}`)
  const size = rows * sequence
  if (count === size) return [batch]
  const pieces: TokenBatch[] = []
  for (let start = 0; start < count; start += size)
    pieces.push({
      tokens: padded(tokens.subarray(start, start + size), Int32Array, size),
      targets: padded(targets.subarray(start, start + size), Int32Array, size),
      weights: padded(weights.subarray(start, start + size), Float32Array, size),
    })
  return pieces
}

function padded<T extends Int32Array | Float32Array>(values: T, type: new (size: number) => T, size: number): T {
  if (values.length === size) return values
  const result = new type(size)
  result.set(values)
  return result
}
