/**
 * Matrix products: of two matrices, or of stacks of them with equal leading axes.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { sameShape, sizeOf } from '../graph/shape.ts'
import { reshape, transpose } from './arrangement.ts'

export interface Transposition {
  readonly transposeA?: boolean
  readonly transposeB?: boolean
}

/** A B, where either may be transposed in its last two axes first. */
export function matrixProduct(a: Tensor, b: Tensor, options: Transposition = {}): Tensor {
  const { transposeA = false, transposeB = false } = options
  const rank = a.shape.length
  const [rows, innerA] = lastTwo(a, transposeA)
  const [innerB, columns] = lastTwo(b, transposeB)
  if (innerA !== innerB || !sameShape(a.shape.slice(0, -2), b.shape.slice(0, -2)))
    throw new Error(
      `matrixProduct: ${described(a, transposeA)} does not fit ${described(b, transposeB)}: ` +
        (innerA !== innerB ? `inner sizes ${innerA} and ${innerB} differ` : 'leading axes differ'),
    )
  const derivative = (gradient: Tensor) => [
    transposeA
      ? matrixProduct(b, gradient, { transposeA: transposeB, transposeB: true })
      : matrixProduct(gradient, b, { transposeB: !transposeB }),
    transposeB
      ? matrixProduct(gradient, a, { transposeA: true, transposeB: transposeA })
      : matrixProduct(a, gradient, { transposeA: !transposeA }),
  ]
  const shape = [...a.shape.slice(0, -2), rows, columns]
  // Gemm and FusedMatMul read transposed matrices in place.
  const isUnsteady = !transposeA && dependsOnThreads(a, sizeOf(shape.slice(0, -2)), rows, innerA, columns)
  if (rank === 2) {
    const attributes = { transA: Number(transposeA || isUnsteady), transB: Number(transposeB) }
    const inputs = [isUnsteady ? transposedForGood(a) : a, b]
    const product = a.graph.operation({ operation: 'Gemm', attributes, inputs, shape })
    return a.graph.composite('matrixProduct', product, [a, b], derivative)
  }
  // In double precision there is only the plain operator.
  const atOnce = a.graph.precision === 'float32' && (transposeA || transposeB || isUnsteady)
  const product = atOnce
    ? a.graph.operation({
        operation: 'FusedMatMul',
        domain: 'com.microsoft',
        attributes: { transA: Number(transposeA || isUnsteady), transB: Number(transposeB) },
        inputs: [isUnsteady ? transposedForGood(a) : a, b],
        shape,
      })
    : a.graph.operation({
        operation: 'MatMul',
        inputs: [transposeA ? transposeLastTwo(a) : a, transposeB ? transposeLastTwo(b) : b],
        shape,
      })
  return a.graph.composite('matrixProduct', product, [a, b], derivative)
}

/** Up to this many threads results do not depend on them. */
const mostThreads = 16

/**
 * Where a product has more columns than rows, the runtime gives each thread some of the columns; and where a thread has 64 or fewer, it sums
 * the inner terms in portions of more than 128, so that the last bits depend on the number of threads. A single column is taken for a
 * row, with the same effect. Where A is transposed the portions are always 128; and with one row, or a product for each thread,
 * there is nothing to divide.
 */
function dependsOnThreads(a: Tensor, products: number, rows: number, inner: number, columns: number): boolean {
  if (a.graph.precision !== 'float32' || inner <= 128 || rows === 1 || products >= mostThreads) return false
  return columns === 1 || (rows < columns && columns <= 64 * mostThreads)
}

/** With the last two axes exchanged, in a way that the runtime does not see through: it would merge a plain transposition into the product. */
function transposedForGood(a: Tensor): Tensor {
  const [rows, columns] = a.shape.slice(-2) as [number, number]
  const stack = sizeOf(a.shape.slice(0, -2))
  const transposed = transpose(reshape(a, [1, stack, rows, columns]), [0, 1, 3, 2])
  return reshape(transposed, [...a.shape.slice(0, -2), columns, rows])
}

function lastTwo(a: Tensor, transposed: boolean): [number, number] {
  const rows = a.shape.at(-2)
  const columns = a.shape.at(-1)
  if (rows === undefined || columns === undefined)
    throw new Error(`matrixProduct: ${describe(a)} is not a matrix or a stack of matrices`)
  return transposed ? [columns, rows] : [rows, columns]
}

const described = (a: Tensor, transposed: boolean) => describe(a) + (transposed ? ' transposed' : '')

export function transposeLastTwo(a: Tensor): Tensor {
  const axes = a.shape.map((_, axis) => axis)
  const last = axes.length - 1
  return transpose(a, [...axes.slice(0, -2), last, last - 1])
}
