/**
 * Matrix products: of two matrices, or of stacks of them with equal leading axes.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { sameShape } from '../graph/shape.ts'
import { transpose } from './arrangement.ts'

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
  // Gemm reads transposed matrices in place. Stacks have no such operator; at the optimisation level `all` the runtime
  // merges the transpositions into the product.
  if (rank === 2) {
    const attributes = { transA: Number(transposeA), transB: Number(transposeB) }
    return a.graph.operation({ operation: 'Gemm', attributes, inputs: [a, b], shape, derivative })
  }
  const inputs = [transposeA ? transposeLastTwo(a) : a, transposeB ? transposeLastTwo(b) : b]
  const product = a.graph.operation({ operation: 'MatMul', inputs, shape })
  return a.graph.composite('matrixProduct', product, [a, b], derivative)
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
