/**
 * Sparse rows without the columns that repeat another: of texts the pairs of words that only ever stand together. Of m equal columns one
 * stays, times √m. That turns the space of the rows and loses nothing of it: products with a row, and what ridge regression predicts (m equal
 * weights w cost m w², and one of √m w the same), are as before but for rounding.
 */
import { byIndex } from './cosines.ts'
import type { SparseVector } from './sparse.ts'

export interface WithoutEqualColumns {
  /** One for each row that was given. */
  readonly rows: readonly SparseVector[]
  /** Any other vector in the same columns. It may get shorter: what no row can tell apart is lost. */
  of(vector: SparseVector): SparseVector
}

/** @param columns one more than the largest index of any vector */
export function withoutEqualColumns(rows: readonly SparseVector[], columns: number): WithoutEqualColumns {
  const first = firstEqual(rows, columns)
  const count = new Float64Array(columns)
  for (const column of first) count[column]!++
  const scales = count.map(equal => 1 / Math.sqrt(equal))
  const sums = new Float64Array(columns)
  const isSeen = new Uint8Array(columns)
  const kept = new Int32Array(columns)

  function of({ indices, values }: SparseVector): SparseVector {
    let length = 0
    let isAscending = true
    for (let k = 0; k < indices.length; k++) {
      const column = first[indices[k]!]!
      sums[column] = sums[column]! + values[k]!
      if (isSeen[column] === 1) continue
      isSeen[column] = 1
      if (length > 0 && kept[length - 1]! > column) isAscending = false
      kept[length++] = column
    }
    const ascending = kept.slice(0, length)
    if (!isAscending) ascending.sort()
    const scaled = new Float64Array(length)
    for (let k = 0; k < length; k++) {
      const column = ascending[k]!
      scaled[k] = sums[column]! * scales[column]!
      sums[column] = 0
      isSeen[column] = 0
    }
    return { indices: ascending, values: scaled }
  }

  return { rows: rows.map(of), of }
}

/** For each column the first one that is equal to it: itself where none before it is. */
function firstEqual(rows: readonly SparseVector[], columns: number): Int32Array {
  const entries = byIndex(rows, columns)
  const { starts } = entries
  const bits = new Uint32Array(entries.values.buffer)
  const first = new Int32Array(columns)
  const byHash = new Map<number, number[]>()
  for (let column = 0; column < columns; column++) {
    let hash = 0
    for (let k = starts[column]!; k < starts[column + 1]!; k++) {
      hash = Math.imul(hash ^ entries.rows[k]!, 0x9e3779b1)
      hash = Math.imul(hash ^ bits[2 * k]! ^ (bits[2 * k + 1]! >>> 3), 0x85ebca6b) ^ (hash >>> 15)
    }
    const alike = byHash.get(hash)
    first[column] = alike?.find(other => isEqual(entries, column, other)) ?? column
    if (alike === undefined) byHash.set(hash, [column])
    else if (first[column] === column) alike.push(column)
  }
  return first
}

function isEqual({ starts, rows, values }: ReturnType<typeof byIndex>, one: number, other: number): boolean {
  const shift = starts[other]! - starts[one]!
  const end = starts[one + 1]!
  if (starts[other + 1]! - end !== shift) return false
  for (let k = starts[one]!; k < end; k++) {
    if (rows[k] !== rows[k + shift] || values[k] !== values[k + shift]) return false
  }
  return true
}
