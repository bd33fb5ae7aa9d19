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
 * Factorises the lower triangle of `matrix` (size × size, row-major; the upper triangle is not read, the input is kept), with `added`
 * to its diagonal. Null when the sum is not positive definite in double precision.
 */
export function cholesky(matrix: Float64Array, size: number, added?: Float64Array): CholeskyFactor | null {
  if (matrix.length !== size * size) {
    throw new Error(`cholesky: ${matrix.length} entries are not a matrix of ${size} rows; pass ${size * size}`)
  }
  const lower = new Float64Array(size * size)
  const diagonal = new Float64Array(size)
  for (let row = 0; row < size; row++)
    diagonal[row] = matrix[row * (size + 1)]! + (added === undefined ? 0 : added[row]!)
  const even = size - (size % 2)
  for (let row = 0; row < even; row += 2) {
    for (let column = 0; column < row; column += 2) factorBlock(lower, matrix, size, row, column)
    if (!factorPivots(lower, matrix, diagonal, row)) return null
  }
  if (even < size && !factorLastRow(lower, matrix, diagonal)) return null
  let logDeterminant = 0
  for (let row = 0; row < size; row++) logDeterminant += 2 * Math.log(lower[row * (size + 1)]!)
  return { size, lower, logDeterminant }
}

/** Two rows of two columns, at (row, column) below the diagonal: what is read once serves twice, and four sums run at a time. */
function factorBlock(lower: Float64Array, matrix: Float64Array, size: number, row: number, column: number): void {
  const first = row * size
  const second = first + size
  const left = column * size
  const right = left + size
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let k = 0; k < column; k++) {
    const x = lower[first + k]!
    const y = lower[second + k]!
    const u = lower[left + k]!
    const v = lower[right + k]!
    a += x * u
    b += x * v
    c += y * u
    d += y * v
  }
  const pivot = lower[left + column]!
  const below = lower[right + column]!
  const nextPivot = lower[right + column + 1]!
  const one = (matrix[first + column]! - a) / pivot
  const other = (matrix[second + column]! - c) / pivot
  lower[first + column] = one
  lower[second + column] = other
  lower[first + column + 1] = (matrix[first + column + 1]! - b - one * below) / nextPivot
  lower[second + column + 1] = (matrix[second + column + 1]! - d - other * below) / nextPivot
}

/** The two rows at the diagonal; false where a pivot is not positive. */
function factorPivots(lower: Float64Array, matrix: Float64Array, diagonal: Float64Array, row: number): boolean {
  const size = diagonal.length
  const first = row * size
  const second = first + size
  const pivot = pivotOf(diagonal[row]! - dot(lower, first, lower, first, row), diagonal[row]!)
  const below = (matrix[second + row]! - dot(lower, second, lower, first, row)) / pivot
  const left = diagonal[row + 1]! - dot(lower, second, lower, second, row) - below * below
  const nextPivot = pivotOf(left, diagonal[row + 1]!)
  lower[first + row] = pivot
  lower[second + row] = below
  lower[second + row + 1] = nextPivot
  return pivot > 0 && nextPivot > 0
}

/** The one that is left of an odd number. */
function factorLastRow(lower: Float64Array, matrix: Float64Array, diagonal: Float64Array): boolean {
  const size = diagonal.length
  const row = size - 1
  const start = row * size
  for (let column = 0; column < row; column++) {
    const sum = matrix[start + column]! - dot(lower, start, lower, column * size, column)
    lower[start + column] = sum / lower[column * size + column]!
  }
  const pivot = pivotOf(diagonal[row]! - dot(lower, start, lower, start, row), diagonal[row]!)
  lower[start + row] = pivot
  return pivot > 0
}

/** NaN where there is none: below this share of the diagonal what is left is rounding error, whatever its sign. */
function pivotOf(left: number, diagonal: number): number {
  return left > 1e-14 * Math.abs(diagonal) ? Math.sqrt(left) : Number.NaN
}

/** x with L x = b. */
export function solveLower(factor: CholeskyFactor, right: Float64Array): Float64Array {
  const { size, lower } = factor
  const solution = new Float64Array(size)
  for (let row = 0; row < size; row++) {
    const rowStart = row * size
    solution[row] = (right[row]! - dot(lower, rowStart, solution, 0, row)) / lower[rowStart + row]!
  }
  return solution
}

/** x with Lᵀ x = b. */
export function solveLowerTransposed(factor: CholeskyFactor, right: Float64Array): Float64Array {
  const { size, lower } = factor
  const solution = right.slice()
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

/** Of `count` entries each, from these places on. Four running sums, so that an addition need not wait for the one before. */
function dot(values: Float64Array, from: number, others: Float64Array, otherFrom: number, count: number): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let k = 0
  for (; k + 3 < count; k += 4) {
    a += values[from + k]! * others[otherFrom + k]!
    b += values[from + k + 1]! * others[otherFrom + k + 1]!
    c += values[from + k + 2]! * others[otherFrom + k + 2]!
    d += values[from + k + 3]! * others[otherFrom + k + 3]!
  }
  for (; k < count; k++) a += values[from + k]! * others[otherFrom + k]!
  return a + b + (c + d)
}
