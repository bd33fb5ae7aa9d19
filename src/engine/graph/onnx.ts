/**
 * Writes the part of a graph that some outputs need as an ONNX model (format version 9, operators of version 18). Field numbers
 * are those of onnx.proto3.
 */
import { type Attribute, computed, type ElementType, type Tensor } from './graph.ts'
import { ProtobufWriter } from './protobuf.ts'

const operatorVersion = 18
const elementTypeCodes: Readonly<Record<ElementType, number>> = { float32: 1, int32: 6, int64: 7, bool: 9, float64: 11 }
const attributeTypeCodes = { float: 1, integer: 2, text: 3, integers: 7 }

export interface OnnxModel {
  readonly bytes: Uint8Array
  /** The inputs that are needed; others of the graph are not part of the model. */
  readonly inputs: readonly Tensor[]
  readonly operationCount: number
}

/** Outputs carry the names given here. */
export function onnxModel(outputs: ReadonlyMap<string, Tensor>): OnnxModel {
  const needed = neededTensors([...outputs.values()])
  const graph = new ProtobufWriter().string(2, 'graph')
  const inputs: Tensor[] = []
  let operationCount = 0
  for (const tensor of needed) {
    const { definition } = tensor
    if (definition.kind === 'input') {
      inputs.push(tensor)
      graph.message(11, valueInformation(tensor.name, tensor))
    } else if (definition.kind === 'constant') {
      graph.message(5, initializer(valueName(tensor), tensor.shape, tensor.type, definition.values))
    } else if (definition.kind === 'operation') {
      operationCount++
      const node = new ProtobufWriter()
      for (const input of tensor.inputs) node.string(1, valueName(computed(input)))
      for (let output = 0; output < definition.output; output++) node.string(2, `${valueName(tensor)}.unused${output}`)
      node.string(2, valueName(tensor)).string(3, `${tensor.name}#${tensor.index}`).string(4, definition.operation)
      for (const [name, value] of Object.entries(definition.attributes)) node.message(5, attribute(name, value))
      if (definition.domain !== '') node.string(7, definition.domain)
      graph.message(1, node)
    }
  }
  // A graph output must be made by a node of its own: an input, a constant or another output may be what it is equal to.
  for (const [name, tensor] of outputs) {
    const identity = new ProtobufWriter().string(1, valueName(computed(tensor))).string(2, `output.${name}`)
    graph.message(1, identity.string(4, 'Identity'))
    graph.message(12, valueInformation(`output.${name}`, tensor))
  }
  const model = new ProtobufWriter().integer(1, 9).string(2, 'almanac').message(7, graph)
  for (const [domain, version] of [
    ['', operatorVersion],
    ['com.microsoft', 1],
  ] as const)
    model.message(8, new ProtobufWriter().string(1, domain).integer(2, version))
  return { bytes: model.finish(), inputs, operationCount }
}

/** In an order where inputs come first. */
function neededTensors(outputs: readonly Tensor[]): Tensor[] {
  const needed = new Set<Tensor>()
  const stack = outputs.map(computed)
  for (let tensor = stack.pop(); tensor; tensor = stack.pop()) {
    if (needed.has(tensor)) continue
    needed.add(tensor)
    for (const input of tensor.inputs) stack.push(computed(input))
  }
  return [...needed].sort((a, b) => a.index - b.index)
}

function valueName(tensor: Tensor): string {
  return tensor.definition.kind === 'input' ? tensor.name : `value.${tensor.index}`
}

function valueInformation(name: string, { shape, type }: Tensor): ProtobufWriter {
  const dimensions = new ProtobufWriter()
  for (const size of shape) dimensions.message(1, new ProtobufWriter().integer(1, size))
  const tensorType = new ProtobufWriter().integer(1, elementTypeCodes[type]).message(2, dimensions)
  return new ProtobufWriter().string(1, name).message(2, new ProtobufWriter().message(1, tensorType))
}

function initializer(name: string, shape: readonly number[], type: ElementType, values: readonly number[]) {
  const writer = new ProtobufWriter()
  for (const size of shape) writer.integer(1, size)
  return writer.integer(2, elementTypeCodes[type]).string(8, name).bytes(9, rawData(type, values))
}

function rawData(type: ElementType, values: readonly number[]): Uint8Array {
  const typed = {
    float32: () => Float32Array.from(values),
    float64: () => Float64Array.from(values),
    int32: () => Int32Array.from(values),
    int64: () => BigInt64Array.from(values, BigInt),
    bool: () => Uint8Array.from(values),
  }[type]()
  return new Uint8Array(typed.buffer)
}

function attribute(name: string, value: Attribute): ProtobufWriter {
  const writer = new ProtobufWriter().string(1, name)
  if (typeof value === 'number') return writer.integer(3, value).integer(20, attributeTypeCodes.integer)
  if ('float' in value) return writer.float(2, value.float).integer(20, attributeTypeCodes.float)
  if ('text' in value) return writer.string(4, value.text).integer(20, attributeTypeCodes.text)
  for (const entry of value) writer.integer(8, entry)
  return writer.integer(20, attributeTypeCodes.integers)
}
