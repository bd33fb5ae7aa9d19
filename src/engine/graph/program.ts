/**
 * Runs a graph: compiles what some outputs need into a session of ONNX Runtime on the CPU. Results do not depend on the
 * number of threads. `run` blocks the calling thread; inputs are read in place, outputs are new arrays.
 */
import { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node'
import type { Tensor } from './graph.ts'
import { nativeCall } from './native-calls.ts'
import { onnxModel } from './onnx.ts'
import { describeShape, sameShape, sizeOf } from './shape.ts'

export type FloatArray = Float32Array | Float64Array
export type ResultArray = FloatArray | Int32Array | Uint8Array

export interface Program {
  /**
   * Values by the names of the inputs; those that the outputs do not need may be left out. Throws for a missing or unfit one. What a loop
   * collected has as many entries as there were iterations.
   */
  run(values: Readonly<Record<string, FloatArray | Int32Array>>): Promise<Record<string, ResultArray>>
  readonly operationCount: number
  dispose(): Promise<void>
}

export interface ProgramOptions {
  /** Default 1. */
  readonly threads?: number
}

export async function compile(
  outputs: Readonly<Record<string, Tensor>>,
  options: ProgramOptions = {},
): Promise<Program> {
  const named = new Map(Object.entries(outputs))
  const first = [...named.values()][0]
  if (!first) throw new Error('compile: there are no outputs')
  const model = onnxModel(named)
  const sessionOptions: InferenceSession.SessionOptions = {
    executionProviders: ['cpu'],
    // In double precision the fusions of `all` end in kernels that have no double version.
    graphOptimizationLevel: first.graph.precision === 'float64' ? 'basic' : 'all',
    intraOpNumThreads: options.threads ?? 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    logSeverityLevel: 3,
  }
  const session = await nativeCall(() => InferenceSession.create(model.bytes, sessionOptions))
  return {
    operationCount: model.operationCount,
    async run(values) {
      const feeds = Object.fromEntries(model.inputs.map(input => [input.name, feed(input, values[input.name])]))
      const fetched = await nativeCall(() => session.run(feeds))
      const results: Record<string, ResultArray> = {}
      for (const [name, tensor] of named) {
        const result = fetched[`output.${name}`]!
        // The runtime accepts a wrong declared shape and returns what it computed.
        if (!sameShape(result.dims, collectedShape(tensor, result.dims)))
          throw new Error(`${name} came out as ${describeShape(result.dims)}, declared ${describeShape(tensor.shape)}`)
        results[name] = result.data as ResultArray
      }
      return results
    },
    dispose: () => nativeCall(() => session.release()),
  }
}

/** Only a loop knows how many iterations there were. */
function collectedShape({ shape, definition }: Tensor, found: readonly number[]): readonly number[] {
  if (definition.kind !== 'loop' || !definition.collected) return shape
  return [Math.min(shape[0]!, found[0] ?? 0), ...shape.slice(1)]
}

const arrayTypes = { float32: Float32Array, float64: Float64Array, int32: Int32Array } as const

function feed({ name, shape, type, definition }: Tensor, values: FloatArray | Int32Array | undefined): RuntimeTensor {
  if (!values) throw new Error(`run: the input ${name} is missing`)
  const arrayType = arrayTypes[type as keyof typeof arrayTypes]
  if (!(values instanceof arrayType))
    throw new Error(`run: the input ${name} is a ${values.constructor.name}, expected a ${arrayType.name}`)
  if (values.length !== sizeOf(shape))
    throw new Error(
      `run: the input ${name} has ${values.length} values, expected ${sizeOf(shape)} for ${describeShape(shape)}`,
    )
  if (definition.kind === 'input' && definition.below !== null) checkIndices(name, values, definition.below)
  return new RuntimeTensor(type as 'float32', values as Float32Array, shape)
}

/** Gather counts negative indices from the end and says nothing. */
function checkIndices(name: string, values: ArrayLike<number>, below: number): void {
  for (let position = 0; position < values.length; position++) {
    const value = values[position]!
    if (value < 0 || value >= below)
      throw new Error(`run: ${name}[${position}] is ${value}, expected a whole number from 0 to ${below - 1}`)
  }
}
