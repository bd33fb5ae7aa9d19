/**
 * Sparse vectors: the non-zero entries of a long vector, by ascending index.
 */

export interface SparseVector {
  /** Strictly ascending. */
  readonly indices: Int32Array
  /** The value at each index; same length. */
  readonly values: Float64Array
}

export function sparseDot(a: SparseVector, b: SparseVector): number {
  let sum = 0
  for (let i = 0, j = 0; i < a.indices.length && j < b.indices.length; ) {
    const difference = a.indices[i]! - b.indices[j]!
    if (difference === 0) sum += a.values[i++]! * b.values[j++]!
    else if (difference < 0) i++
    else j++
  }
  return sum
}

/** Cosine of the angle between two vectors, in [-1, 1]; 0 where either is all zeros. */
export function cosine(a: SparseVector, b: SparseVector): number {
  const scale = Math.sqrt(sparseDot(a, a)) * Math.sqrt(sparseDot(b, b))
  return scale === 0 ? 0 : Math.max(-1, Math.min(1, sparseDot(a, b) / scale))
}
