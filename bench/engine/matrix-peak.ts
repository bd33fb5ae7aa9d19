/** How fast this machine multiplies matrices in ONNX Runtime: what the engine's share of the peak is a share of. */
import { matrixProduct } from '../../src/engine/algebra/matrix-product.ts'
import { Graph } from '../../src/engine/graph/graph.ts'
import { compile } from '../../src/engine/graph/program.ts'

/** Billions of operations a second, multiplications and additions, in the fastest of several products in single precision. */
export async function matrixPeak(threads: number): Promise<number> {
  const size = 1024
  const graph = new Graph()
  // Several in one run, so that copying results does not count.
  let result = graph.input('a', [size, size])
  const factor = graph.input('b', [size, size])
  const products = 4
  for (let count = 0; count < products; count++) result = matrixProduct(result, factor)
  const program = await compile({ result }, { threads })
  const values = { a: new Float32Array(size * size).fill(0.01), b: new Float32Array(size * size).fill(1 / size) }
  let fastest = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 12; turn++) {
    const start = performance.now()
    await program.run(values)
    fastest = Math.min(fastest, (performance.now() - start) / 1000)
  }
  await program.dispose()
  return (products * 2 * size ** 3) / fastest / 1e9
}
