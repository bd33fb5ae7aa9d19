/**
 * Newton-Schulz iterations that bring a matrix near the closest orthogonal one: its singular values go to about 1 (0.7 to 1.2
 * with the usual five steps). Done as a graph: in plain loops it would cost more than the model's own step.
 */
import { multiply, shift } from '../algebra/arithmetic.ts'
import { transpose } from '../algebra/arrangement.ts'
import { reciprocal, sqrt, square } from '../algebra/functions.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { total } from '../algebra/reduction.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile, type Program } from '../graph/program.ts'

/** Quintic whose slope at 0 is as large as it can be without leaving (0.7, 1.2) near 1 (Jordan et al., 2024). */
const coefficients = [3.4445, -4.775, 2.0315] as const

/** X ← a X + (b A + c A²) X with A = X Xᵀ, from X scaled to Frobenius norm 1; on the side where A is smaller. */
export function newtonSchulz(matrix: Tensor, steps: number): Tensor {
  const [rows, columns] = matrix.shape
  if (matrix.shape.length !== 2) throw new Error(`newtonSchulz: ${matrix.name} is not a matrix`)
  if (rows! > columns!) return transpose(newtonSchulz(transpose(matrix, [1, 0]), steps), [1, 0])
  const [a, b, c] = coefficients
  let current = multiply(matrix, reciprocal(shift(sqrt(total(square(matrix))), 1e-7)))
  for (let step = 0; step < steps; step++) {
    const gram = matrixProduct(current, current, { transposeB: true })
    current = productPlus(productPlus(gram, gram, gram, c, b), current, current, 1, a)
  }
  return current
}

/**
 * alpha A B + beta C in one operation, for a symmetric A. Not differentiable. Said to be transposed, A is read in a way that makes the result
 * independent of the number of threads (matrix-product.ts says why).
 */
function productPlus(a: Tensor, b: Tensor, c: Tensor, alpha: number, beta: number): Tensor {
  const attributes = { alpha: { float: alpha }, beta: { float: beta }, transA: 1 }
  return a.graph.operation({ operation: 'Gemm', attributes, inputs: [a, b, c], shape: c.shape })
}

/** A program that makes all these matrices orthogonal; inputs and outputs carry the names. */
export function compileNewtonSchulz(
  shapes: ReadonlyMap<string, readonly number[]>,
  steps: number,
  threads: number,
): Promise<Program> {
  const graph = new Graph()
  const outputs: Record<string, Tensor> = {}
  for (const [name, shape] of shapes) outputs[name] = newtonSchulz(graph.input(name, shape), steps)
  return compile(outputs, { threads })
}
