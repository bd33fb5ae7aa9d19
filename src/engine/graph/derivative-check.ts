/**
 * Compares the derivatives of a graph with central finite differences, in double precision: for tests of operations and
 * models, also a user's own.
 */
import { multiply } from '../algebra/arithmetic.ts'
import { total } from '../algebra/reduction.ts'
import { gradientsOf } from './gradients.ts'
import { Graph, neededTensors, type Tensor } from './graph.ts'
import { compile } from './program.ts'
import { sizeOf } from './shape.ts'

export interface DerivativeCheck {
  /** Values of the floating-point inputs by which is differentiated, with their shapes. */
  readonly inputs: Readonly<Record<string, { readonly shape: readonly number[]; readonly values: Float64Array }>>
  /** Other inputs that `build` adds to the graph itself. */
  readonly fixed?: Readonly<Record<string, Float64Array | Int32Array>>
  readonly build: (graph: Graph, inputs: Readonly<Record<string, Tensor>>) => Tensor
  /** How many elements of each input are compared, evenly spread; default all. */
  readonly elements?: number
}

/**
 * The worst difference over the compared elements, relative to the larger of the two derivatives, or to 1e-3 of the
 * largest of all where they are smaller than that. An output that is not a scalar is summed with unequal weights, so that errors cannot cancel.
 * Throws a sentence where an operation gives another shape than it declares.
 */
export async function worstDerivativeError(check: DerivativeCheck): Promise<number> {
  const graph = new Graph('float64')
  const names = Object.keys(check.inputs)
  const inputs = Object.fromEntries(names.map(name => [name, graph.input(name, check.inputs[name]!.shape)]))
  const output = check.build(graph, inputs)
  const scalar = total(multiply(output, graph.constant(unequalWeights(sizeOf(output.shape)), output.shape)))
  const gradients = gradientsOf(
    scalar,
    names.map(name => inputs[name]!),
  )
  const forward = await compile({ scalar })
  const backward = await compile({
    ...Object.fromEntries(names.map((name, index) => [name, gradients[index]!])),
    ...allOperations([scalar, ...gradients]),
  })
  const point = Object.fromEntries(names.map(name => [name, Float64Array.from(check.inputs[name]!.values)]))
  const feeds = { ...point, ...check.fixed }
  try {
    const analytic = await backward.run(feeds)
    const pairs: [number, number][] = []
    for (const name of names) {
      const values = point[name]!
      const stride = Math.max(1, Math.floor(values.length / (check.elements ?? values.length)))
      for (let index = 0; index < values.length; index += stride) {
        const value = values[index]!
        const step = 1e-5 * Math.max(1, Math.abs(value))
        const at = async (moved: number) => {
          values[index] = moved
          return (await forward.run(feeds))['scalar']![0]!
        }
        const slope = ((await at(value + step)) - (await at(value - step))) / (2 * step)
        values[index] = value
        pairs.push([analytic[name]![index]!, slope])
      }
    }
    const floor = 1e-3 * Math.max(...pairs.flat().map(Math.abs))
    return Math.max(...pairs.map(([a, b]) => Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b), floor, 1e-12)))
  } finally {
    await forward.dispose()
    await backward.dispose()
  }
}

/** As outputs, whose shapes a program compares with what is declared. */
function allOperations(tensors: readonly Tensor[]): Record<string, Tensor> {
  const operations = neededTensors(tensors).filter(({ definition }) => definition.kind === 'operation')
  return Object.fromEntries(operations.map(tensor => [`operation ${tensor.index}, ${tensor.name},`, tensor]))
}

function unequalWeights(size: number): number[] {
  return Array.from({ length: size }, (_, index) => 1 + 0.7 * Math.sin(1.7 * index + 0.3))
}
