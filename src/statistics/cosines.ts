/**
 * One sparse vector against each of many, by what each index occurs in: only entries that both have are touched, which of ten
 * thousand texts are few.
 */
import { type SparseVector, sparseDot } from './sparse.ts'

/**
 * For one vector after the other, its cosines with each of `others`, bit for bit as `cosine` gives them; in the same array every time.
 *
 * @param size one more than the largest index of any vector
 * @returns the length of a vector is its own, unless it stands for a longer one
 */
export function cosinesWith(
  others: readonly SparseVector[],
  size: number,
): (vector: SparseVector, length?: number) => Float64Array {
  const dotsOf = dotsWith(others, size)
  const lengths = new Float64Array(others.length)
  for (let row = 0; row < others.length; row++) lengths[row] = Math.sqrt(sparseDot(others[row]!, others[row]!))
  return (vector, length = Math.sqrt(sparseDot(vector, vector))) => {
    const cosines = dotsOf(vector)
    for (let row = 0; row < cosines.length; row++) {
      const scale = length * lengths[row]!
      cosines[row] = scale === 0 ? 0 : Math.max(-1, Math.min(1, cosines[row]! / scale))
    }
    return cosines
  }
}

/** The same with their inner products, as `sparseDot` gives them. */
export function dotsWith(others: readonly SparseVector[], size: number): (vector: SparseVector) => Float64Array {
  const { starts, rows, values } = byIndex(others, size)
  const dots = new Float64Array(others.length)
  return vector => {
    dots.fill(0)
    // By ascending index, as a walk over both vectors would add them up.
    for (let entry = 0; entry < vector.indices.length; entry++) {
      const value = vector.values[entry]!
      const end = starts[vector.indices[entry]! + 1]!
      for (let k = starts[vector.indices[entry]!]!; k < end; k++) dots[rows[k]!]! += value * values[k]!
    }
    return dots
  }
}

/** The entries by index, and for one index by row: those of index i are from starts[i] up to starts[i + 1]. */
export function byIndex(vectors: readonly SparseVector[], size: number) {
  const starts = new Int32Array(size + 1)
  for (const { indices } of vectors) {
    for (let k = 0; k < indices.length; k++) starts[indices[k]! + 1]!++
  }
  for (let index = 0; index < size; index++) starts[index + 1]! += starts[index]!
  const rows = new Int32Array(starts[size]!)
  const values = new Float64Array(starts[size]!)
  const next = starts.slice()
  vectors.forEach((vector, row) => {
    for (let k = 0; k < vector.indices.length; k++) {
      const place = next[vector.indices[k]!]!++
      rows[place] = row
      values[place] = vector.values[k]!
    }
  })
  return { starts, rows, values }
}
