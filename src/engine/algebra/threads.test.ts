/**
 * Matrix products give the same bits on any number of threads, also in shapes that the runtime would divide unevenly.
 */
import { expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile, type ResultArray } from '../graph/program.ts'
import { newtonSchulz } from '../optimisers/newton-schulz.ts'
import { matrixProduct, transposeLastTwo } from './matrix-product.ts'

const random = seededRandom('threads')
const draw = (size: number) => Float32Array.from({ length: size }, () => random.normal())

/** Stacks, rows, inner, columns. What was wrong once: few rows, 129 terms and more, columns up to 64 a thread; or a single column. */
const shapes = [
  [1, 16, 129, 96],
  [1, 33, 2048, 128],
  [1, 48, 512, 64],
  [1, 64, 2048, 1],
  [1, 512, 256, 1],
  [1, 96, 256, 256],
  [1, 2, 512, 33],
  [2, 8, 256, 48],
  [1, 64, 129, 300],
  [1, 1, 2048, 64],
] as const

it('one, two, three and eight threads', async () => {
  const graph = new Graph()
  const outputs: Record<string, Tensor> = {}
  const feeds: Record<string, Float32Array> = {}
  for (const [stacks, rows, inner, columns] of shapes) {
    const name = [stacks, rows, inner, columns].join('x')
    const shape = (...last: number[]) => (stacks === 1 ? last : [stacks, ...last])
    const a = graph.input(`a${name}`, shape(rows, inner))
    const b = graph.input(`b${name}`, shape(inner, columns))
    feeds[`a${name}`] = draw(stacks * rows * inner)
    feeds[`b${name}`] = draw(stacks * inner * columns)
    outputs[name] = matrixProduct(a, b)
    outputs[`${name} transposed B`] = matrixProduct(a, transposeLastTwo(b), { transposeB: true })
  }
  feeds['muon'] = draw(160 * 256)
  outputs['muon'] = newtonSchulz(graph.input('muon', [160, 256]), 2)
  const results: Record<string, ResultArray>[] = []
  for (const threads of [1, 2, 3, 8]) {
    const program = await compile(outputs, { threads })
    results.push(await program.run(feeds))
    await program.dispose()
  }
  for (const [index, result] of results.entries()) {
    const different = Object.keys(outputs).filter(name => !sameBytes(result[name]!, results[0]![name]!))
    expect(different, `the ${index + 1}th number of threads`).toEqual([])
  }
})

const sameBytes = (a: ResultArray, b: ResultArray) => Buffer.from(a.buffer).equals(Buffer.from(b.buffer))
