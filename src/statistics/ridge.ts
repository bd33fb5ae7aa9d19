/**
 * Ridge regression with an intercept that is not penalised: minimises |y - b - X w|^2 + penalty |w|^2, as scikit-learn's
 * Ridge does (penalty is its alpha). Leaves out the choice of the penalty and the scaling of features.
 */
import { cholesky, solveCholesky } from './cholesky.ts'
import type { SparseVector } from './sparse.ts'
import { mean } from './summary.ts'

export interface Ridge<Row> {
  readonly intercept: number
  readonly coefficients: Float64Array
  predict(row: Row): number
}

/**
 * Rows of equal length, one target for each; the penalty is positive. Solved exactly by Cholesky, in the dual where there
 * are fewer rows than columns: time is cubic in the smaller of the two. As the penalty grows, predictions tend to the mean.
 */
export function fitRidge(
  rows: readonly ArrayLike<number>[],
  targets: ArrayLike<number>,
  penalty: number,
): Ridge<ArrayLike<number>> {
  refuse('fitRidge', rows.length, targets.length, penalty)
  const columns = rows[0]!.length
  for (const [index, row] of rows.entries()) {
    if (row.length !== columns) {
      throw new Error(`fitRidge: row ${index} has ${row.length} values and the first ${columns}; they must be equal`)
    }
  }
  const centre = Float64Array.from({ length: columns }, (_, column) => mean(rows.map(row => row[column]!)))
  const centred = rows.map(row => Float64Array.from(row, (value, column) => value - centre[column]!))
  const level = mean(targets)
  const residuals = Float64Array.from(targets, target => target - level)
  const byColumn = Array.from(centre, (_, column) => Float64Array.from(centred, row => row[column]!))

  let coefficients: Float64Array
  if (rows.length < columns) {
    const weights = solveGram(centred, residuals, penalty)
    coefficients = Float64Array.from(byColumn, column => dot(column, weights))
  } else {
    const products = Float64Array.from(byColumn, column => dot(column, residuals))
    coefficients = solveGram(byColumn, products, penalty)
  }
  const intercept = level - dot(coefficients, centre)
  return { intercept, coefficients, predict: row => intercept + dot(coefficients, row) }
}

/** x with (V Vᵀ + penalty I) x = right, the rows of V being the vectors. */
function solveGram(vectors: readonly Float64Array[], right: Float64Array, penalty: number): Float64Array {
  const size = vectors.length
  const gram = new Float64Array(size * size)
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) gram[i * size + j] = dot(vectors[i]!, vectors[j]!) + (i === j ? penalty : 0)
  }
  const factor = cholesky(gram, size)
  if (factor === null) throw new Error(`fitRidge: the penalty ${penalty} is too small for these features; raise it`)
  return solveCholesky(factor, right)
}

/**
 * The same on sparse rows with `columns` features, by conjugate gradients in the dual: each step walks the non-zero
 * entries twice, so ten thousand texts take a fraction of a second. The residual is brought down to 1e-10 of the targets'.
 */
export function fitSparseRidge(
  rows: readonly SparseVector[],
  columns: number,
  targets: ArrayLike<number>,
  penalty: number,
): Ridge<SparseVector> {
  refuse('fitSparseRidge', rows.length, targets.length, penalty)
  const level = mean(targets)
  const { starts, indices, values } = oneBehindTheOther(rows)
  const sums = new Float64Array(columns)
  const products = new Float64Array(rows.length)

  // The dual weights sum to zero, so Xᵀ of them is the same for the rows as they are and for the centred rows.
  const combine = (weights: Float64Array) => {
    sums.fill(0)
    for (let row = 0; row < weights.length; row++) {
      const weight = weights[row]!
      const end = starts[row + 1]!
      for (let k = starts[row]!; k < end; k++) sums[indices[k]!]! += weight * values[k]!
    }
  }
  const project = () => {
    for (let row = 0; row < products.length; row++) {
      let sum = 0
      const end = starts[row + 1]!
      for (let k = starts[row]!; k < end; k++) sum += values[k]! * sums[indices[k]!]!
      products[row] = sum
    }
  }
  const multiply = (weights: Float64Array) => {
    combine(weights)
    project()
    const centre = mean(products)
    for (let row = 0; row < products.length; row++) products[row] = products[row]! - centre + penalty * weights[row]!
    return products
  }

  const right = Float64Array.from(targets, target => target - level)
  combine(conjugateGradients(multiply, right))
  project()
  const intercept = level - mean(products)
  return { intercept, coefficients: sums, predict: row => intercept + dotSparse(row, sums) }
}

/** The entries of all rows in three long arrays; those of row i are from starts[i] up to starts[i + 1]. */
function oneBehindTheOther(rows: readonly SparseVector[]) {
  const starts = new Int32Array(rows.length + 1)
  rows.forEach((row, index) => {
    starts[index + 1] = starts[index]! + row.indices.length
  })
  const indices = new Int32Array(starts[rows.length]!)
  const values = new Float64Array(starts[rows.length]!)
  rows.forEach((row, index) => {
    indices.set(row.indices, starts[index]!)
    values.set(row.values, starts[index]!)
  })
  return { starts, indices, values }
}

/** x with A x = right for a symmetric positive definite A (Hestenes and Stiefel 1952). `multiply` may write to one array again and again. */
function conjugateGradients(multiply: (x: Float64Array) => Float64Array, right: Float64Array): Float64Array {
  const solution = new Float64Array(right.length)
  const residual = right.slice()
  const direction = right.slice()
  let squares = dot(residual, residual)
  const enough = squares * 1e-20
  for (let step = 0; squares > enough; step++) {
    if (step > 10 * right.length + 1000) {
      throw new Error('fitSparseRidge: no solution to 1e-10; the penalty is too small for these features, raise it')
    }
    const image = multiply(direction)
    const length = squares / dot(direction, image)
    for (let i = 0; i < solution.length; i++) {
      solution[i]! += length * direction[i]!
      residual[i]! -= length * image[i]!
    }
    const before = squares
    squares = dot(residual, residual)
    const share = squares / before
    for (let i = 0; i < direction.length; i++) direction[i] = residual[i]! + share * direction[i]!
  }
  return solution
}

function dotSparse({ indices, values }: SparseVector, dense: Float64Array): number {
  let sum = 0
  for (let k = 0; k < indices.length; k++) sum += values[k]! * dense[indices[k]!]!
  return sum
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

function refuse(what: string, rows: number, targets: number, penalty: number): void {
  if (rows === 0 || rows !== targets) {
    throw new Error(`${what}: there are ${rows} rows and ${targets} targets; give one for each of at least one`)
  }
  if (!(penalty > 0 && penalty < Number.POSITIVE_INFINITY)) {
    throw new Error(`${what}: the penalty is ${penalty}; it must be positive and finite`)
  }
}
