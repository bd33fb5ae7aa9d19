/**
 * Cholesky factors of symmetric positive definite matrices in flat row-major arrays: what Gaussian processes spend their
 * time on. Leaves out pivoting and updates. Works on the typed arrays that kernels fill, as fast
 * as ml-matrix does on its own.
 */

/** The lower factor L of a matrix A = L Lᵀ; entries above the diagonal are zero. */
export interface CholeskyFactor {
  readonly size: number
  readonly lower: Float64Array
  /** ln det A. */
  readonly logDeterminant: number
}

/**
 * Factorises the lower triangle of `matrix` (size × size, row-major; the upper triangle is not read, the input is kept).
 * Null when the matrix is not positive definite in double precision.
 */
export function cholesky(matrix: Float64Array, size: number): CholeskyFactor | null {
  if (matrix.length !== size * size) {
    throw new Error(`cholesky: ${matrix.length} entries are not a matrix of ${size} rows; pass ${size * size}`)
  }
  const lower = new Float64Array(size * size)
  let logDeterminant = 0
  for (let row = 0; row < size; row++) {
    const rowStart = row * size
    for (let column = 0; column <= row; column++) {
      const sum = matrix[rowStart + column]! - dotRows(lower, rowStart, column * size, column)
      if (column < row) {
        lower[rowStart + column] = sum / lower[column * size + column]!
        continue
      }
      // Below this share of the diagonal a pivot is rounding error, whatever its sign.
      if (!(sum > 1e-14 * Math.abs(matrix[rowStart + row]!))) return null
      const pivot = Math.sqrt(sum)
      lower[rowStart + row] = pivot
      logDeterminant += 2 * Math.log(pivot)
    }
  }
  return { size, lower, logDeterminant }
}

/** x with L x = b. */
export function solveLower(factor: CholeskyFactor, right: Float64Array): Float64Array {
  const { size, lower } = factor
  const solution = new Float64Array(size)
  for (let row = 0; row < size; row++) {
    let sum = right[row]!
    const rowStart = row * size
    for (let column = 0; column < row; column++) sum -= lower[rowStart + column]! * solution[column]!
    solution[row] = sum / lower[rowStart + row]!
  }
  return solution
}

/** x with Lᵀ x = b. */
export function solveLowerTransposed(factor: CholeskyFactor, right: Float64Array): Float64Array {
  const { size, lower } = factor
  const solution = Float64Array.from(right)
  for (let row = size - 1; row >= 0; row--) {
    const rowStart = row * size
    const value = solution[row]! / lower[rowStart + row]!
    solution[row] = value
    for (let column = 0; column < row; column++) solution[column]! -= lower[rowStart + column]! * value
  }
  return solution
}

/** x with A x = b. */
export function solveCholesky(factor: CholeskyFactor, right: Float64Array): Float64Array {
  return solveLowerTransposed(factor, solveLower(factor, right))
}

/** Four running sums, so that an addition need not wait for the one before. */
function dotRows(values: Float64Array, first: number, second: number, count: number): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let k = 0
  for (; k + 3 < count; k += 4) {
    a += values[first + k]! * values[second + k]!
    b += values[first + k + 1]! * values[second + k + 1]!
    c += values[first + k + 2]! * values[second + k + 2]!
    d += values[first + k + 3]! * values[second + k + 3]!
  }
  for (; k < count; k++) a += values[first + k]! * values[second + k]!
  return a + b + (c + d)
}
