/**
 * Writes the part of a graph that some outputs need as an ONNX model (format version 9, operators of version 18). Field numbers
 * are those of onnx.proto3.
 */
import {
  type Attribute,
  computed,
  type Definition,
  describe,
  type ElementType,
  type LoopBody,
  neededTensors,
  type Tensor,
} from './graph.ts'
import { insideOf } from './loop.ts'
import { ProtobufWriter } from './protobuf.ts'

const operatorVersion = 18
const elementTypeCodes: Readonly<Record<ElementType, number>> = { float32: 1, int32: 6, int64: 7, bool: 9, float64: 11 }
const attributeTypeCodes = { float: 1, integer: 2, text: 3, graph: 5, integers: 7 }

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
  for (const tensor of needed) {
    const { definition } = tensor
    if (definition.kind === 'entering') throw new Error(`${describe(tensor)} has no value outside of its loop`)
    if (definition.kind === 'input') {
      inputs.push(tensor)
      graph.message(11, valueInformation(tensor.name, tensor))
    } else if (definition.kind === 'constant')
      graph.message(5, initializer(valueName(tensor), tensor.shape, tensor.type, definition.values))
  }
  const operationCount = writeNodes(graph, needed)
  // A graph output must be made by a node of its own: an input, a constant or another output may be what it is equal to.
  for (const [name, tensor] of outputs) {
    graph.message(1, identity(valueName(computed(tensor)), `output.${name}`))
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

/** Adds the nodes that compute some tensors, whose inputs come first or are known around; how many there are, those in loops included. */
function writeNodes(graph: ProtobufWriter, tensors: readonly Tensor[]): number {
  let count = 0
  for (const outputs of outputsOfNodes(tensors)) {
    const [first] = outputs
    const { definition, inputs, name, index } = first
    const node = new ProtobufWriter()
    for (const input of inputs.slice(0, definition.kind === 'loop' ? 1 : undefined))
      node.string(1, valueName(computed(input)))
    if (definition.kind === 'loop') {
      // The condition for the first iteration is left out: there is always one.
      node.string(1, '')
      for (const input of inputs.slice(1, definition.body.entering.length)) node.string(1, valueName(computed(input)))
    }
    const last = Math.max(...outputs.map(({ definition }) => definition.output))
    const outputCount = definition.kind === 'loop' ? definition.body.leaving.length : last + 1
    for (let output = 0; output < outputCount; output++) {
      const tensor = outputs.find(({ definition }) => definition.output === output)
      node.string(2, tensor ? valueName(tensor) : `${valueName(first)}.unused${output}`)
    }
    node.string(3, `${name}#${index}`).string(4, definition.kind === 'loop' ? 'Loop' : definition.operation)
    if (definition.kind === 'loop') {
      const body = loopBody(definition.body, `loop.${index}`)
      count += body.operationCount
      node.message(
        5,
        new ProtobufWriter().string(1, 'body').message(6, body.graph).integer(20, attributeTypeCodes.graph),
      )
    } else {
      for (const [name, value] of Object.entries(definition.attributes)) node.message(5, attribute(name, value))
      if (definition.domain !== '') node.string(7, definition.domain)
    }
    graph.message(1, node)
    count++
  }
  return count
}

type NodeOutput = Tensor & { readonly definition: Extract<Definition, { readonly kind: 'operation' | 'loop' }> }

/** Tensors that are outputs of one node, node by node. */
function outputsOfNodes(tensors: readonly Tensor[]): [NodeOutput, ...NodeOutput[]][] {
  const nodes = new Map<unknown, [NodeOutput, ...NodeOutput[]]>()
  for (const tensor of tensors) {
    const { definition } = tensor
    if (definition.kind !== 'operation' && definition.kind !== 'loop') continue
    const node = nodes.get(nodeKey(tensor as NodeOutput))
    if (node) node.push(tensor as NodeOutput)
    else nodes.set(nodeKey(tensor as NodeOutput), [tensor as NodeOutput])
  }
  return [...nodes.values()]
}

function nodeKey({ definition, inputs }: NodeOutput): unknown {
  if (definition.kind === 'loop') return definition.body
  const { operation, domain, attributes } = definition
  // By the tensors themselves, not what they are computed as: the same operation on two aliases of one value is two tensors of output 0.
  return [operation, domain, JSON.stringify(attributes), inputs.map(({ index }) => index)].join('|')
}

function loopBody(body: LoopBody, name: string): { readonly graph: ProtobufWriter; readonly operationCount: number } {
  const graph = new ProtobufWriter().string(2, name)
  const inside = insideOf(body)
  const operationCount = writeNodes(graph, inside)
  for (const [position, tensor] of body.entering.entries()) {
    graph.message(11, valueInformation(valueName(tensor), tensor))
    // The condition as it enters has to be there and serves nothing.
    if (position === 0) graph.message(11, valueInformation(`${name}.condition`, body.proceed))
  }
  const made = new Set(inside)
  for (const [position, tensor] of [body.proceed, ...body.leaving].entries()) {
    const value = computed(tensor)
    // What leaves must be made inside, and only once; every other value is copied.
    let leaving = valueName(value)
    if (!made.delete(value)) {
      leaving = `${name}.leaving.${position}`
      graph.message(1, identity(valueName(value), leaving))
    }
    graph.message(12, valueInformation(leaving, tensor))
  }
  return { graph, operationCount }
}

function identity(from: string, to: string): ProtobufWriter {
  return new ProtobufWriter().string(1, from).string(2, to).string(4, 'Identity')
}

function valueName(tensor: Tensor): string {
  if (tensor.definition.kind === 'absent') return ''
  return tensor.definition.kind === 'input' ? tensor.name : `value.${tensor.index}`
}

function valueInformation(name: string, { shape, type, definition }: Tensor): ProtobufWriter {
  const dimensions = new ProtobufWriter()
  for (const [axis, size] of shape.entries()) {
    const isOpen = axis === 0 && definition.kind === 'loop' && definition.collected
    dimensions.message(1, isOpen ? new ProtobufWriter().string(2, 'iterations') : new ProtobufWriter().integer(1, size))
  }
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
