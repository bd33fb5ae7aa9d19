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

  // The dual weights sum to zero, so Xᵀ of them is the same for the rows as they are and for the centred rows.
  const combine = (weights: Float64Array) => {
    const sum = new Float64Array(columns)
    for (const [i, { indices, values }] of rows.entries()) {
      for (let k = 0; k < indices.length; k++) sum[indices[k]!]! += weights[i]! * values[k]!
    }
    return sum
  }
  const project = (coefficients: Float64Array) => Float64Array.from(rows, row => dotSparse(row, coefficients))
  const multiply = (weights: Float64Array) => {
    const products = project(combine(weights))
    const centre = mean(products)
    return products.map((product, i) => product - centre + penalty * weights[i]!)
  }

  const right = Float64Array.from(targets, target => target - level)
  const coefficients = combine(conjugateGradients(multiply, right))
  const intercept = level - mean(project(coefficients))
  return { intercept, coefficients, predict: row => intercept + dotSparse(row, coefficients) }
}

/** x with A x = right for a symmetric positive definite A (Hestenes and Stiefel 1952). */
function conjugateGradients(multiply: (x: Float64Array) => Float64Array, right: Float64Array): Float64Array {
  const solution = new Float64Array(right.length)
  const residual = right.slice()
  let direction = right.slice()
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
    direction = direction.map((value, i) => residual[i]! + (squares / before) * value)
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
