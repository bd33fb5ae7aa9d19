/**
 * A graph of tensors with static shapes: what a model, its loss and its gradients are written as before anything is
 * computed. Shapes and types are checked here, while the names of the model are known. Leaves out differentiation
 * (gradients.ts), the file format (onnx.ts) and execution (program.ts).
 */
import { createHash } from 'node:crypto'
import { describeShape, type Shape, sameShape, sizeOf } from './shape.ts'

/** Of all floating-point tensors of a graph. Double precision serves to check derivatives. */
export type Precision = 'float32' | 'float64'
export type ElementType = Precision | 'int32' | 'int64' | 'bool'
export type Attribute = number | readonly number[] | { readonly float: number } | { readonly text: string }

/** The gradient of a slice of a tensor, zero elsewhere: kept apart so that slices which tile it become one concatenation. */
export interface PartialGradient {
  readonly part: Tensor
  readonly axis: number
  readonly start: number
}

/** From the gradient by the output to the gradient by each input; null for an input that has none. */
export type Derivative = (gradient: Tensor) => readonly (Tensor | PartialGradient | null)[]

/** What a loop computes at each iteration, of the values that enter it (kind `entering`). */
export interface LoopBody {
  /** The iteration's number, then the carried values as they enter. */
  readonly entering: readonly Tensor[]
  /** Whether there is another iteration (bool, a scalar). */
  readonly proceed: Tensor
  /** What is carried on, then what is collected from all iterations. */
  readonly leaving: readonly Tensor[]
}

export type Definition =
  | { readonly kind: 'input'; readonly below: number | null }
  /** An input of an operator that is left out. */
  | { readonly kind: 'absent' }
  /** A value that enters the body of a loop. */
  | { readonly kind: 'entering' }
  /** One result of a loop, in the order of `leaving`. */
  | { readonly kind: 'loop'; readonly body: LoopBody; readonly output: number; readonly collected: boolean }
  | { readonly kind: 'constant'; readonly values: readonly number[] }
  | {
      readonly kind: 'operation'
      readonly operation: string
      readonly domain: string
      readonly attributes: Readonly<Record<string, Attribute>>
      /** Which of the operator's outputs the tensor is; the others are not used. */
      readonly output: number
    }
  /** Equal to another tensor, but with a derivative of its own. */
  | { readonly kind: 'alias'; readonly of: Tensor }

export interface Tensor {
  readonly graph: Graph
  /** Position in the graph: inputs of a tensor have smaller ones. */
  readonly index: number
  readonly name: string
  readonly shape: Shape
  readonly type: ElementType
  readonly definition: Definition
  readonly inputs: readonly Tensor[]
  readonly derivative: Derivative | null
}

export interface OperationSpecification {
  /** Name of the ONNX operator. */
  readonly operation: string
  readonly domain?: string
  readonly attributes?: Readonly<Record<string, Attribute>>
  /** Which of the operator's outputs is meant, from 0 on. Default 0. */
  readonly output?: number
  readonly inputs: readonly Tensor[]
  readonly shape: Shape
  readonly type?: ElementType
  /** Absent: not differentiable. Gets the output too, for derivatives that are cheapest in terms of it. */
  readonly derivative?: (gradient: Tensor, output: Tensor) => ReturnType<Derivative>
}

export class Graph {
  readonly precision: Precision
  readonly #tensors: Tensor[] = []
  readonly #known = new Map<string, Tensor>()
  readonly #inputNames = new Set<string>()
  #scope = ''

  constructor(precision: Precision = 'float32') {
    this.precision = precision
  }

  get tensors(): readonly Tensor[] {
    return this.#tensors
  }

  /** Tensors made inside carry the name in front of theirs. */
  within<T>(name: string, build: () => T): T {
    const outer = this.#scope
    this.#scope = outer === '' ? name : `${outer}.${name}`
    try {
      return build()
    } finally {
      this.#scope = outer
    }
  }

  /** An input, given at each run. */
  input(name: string, shape: Shape, type: ElementType = this.precision): Tensor {
    return this.#addInput(name, shape, type, null)
  }

  /** Whole numbers from 0 to below a bound, checked at each run: a negative index would silently count from the end. */
  indices(name: string, shape: Shape, below: number): Tensor {
    return this.#addInput(name, shape, 'int32', below)
  }

  constant(values: readonly number[], shape: Shape, type: ElementType = this.precision): Tensor {
    if (values.length !== sizeOf(shape))
      throw new Error(`constant: ${values.length} values do not fill shape ${describeShape(shape)}`)
    const key = `constant|${type}|${shape}|${contentOf(values)}`
    return this.#once(key, () => ({
      name: 'constant',
      shape,
      type,
      definition: { kind: 'constant', values },
      inputs: [],
      derivative: null,
    }))
  }

  scalar(value: number): Tensor {
    return this.constant([value], [])
  }

  /** For an input of an operator that may be left out, where later ones are given. */
  absent(): Tensor {
    const properties = { name: 'absent', shape: [], type: this.precision, inputs: [], derivative: null }
    return this.#once('absent', () => ({ ...properties, definition: { kind: 'absent' } }))
  }

  /** A value that enters the body of a loop: see loop.ts. */
  entering(name: string, shape: Shape, type: ElementType): Tensor {
    return this.#add({ name, shape, type, definition: { kind: 'entering' }, inputs: [], derivative: null })
  }

  /** One result of a loop: see loop.ts. */
  loopOutput(body: LoopBody, output: number, collected: boolean, shape: Shape, inputs: readonly Tensor[]): Tensor {
    const { name, type } = body.leaving[output]!
    const definition = { kind: 'loop', body, output, collected } as const
    return this.#add({ name, shape, type, definition, inputs, derivative: null })
  }

  /**
   * Adds an operation, or finds it where the same one on the same inputs is already there: so an operator with its
   * attributes always comes with the same derivative.
   */
  operation(specification: OperationSpecification): Tensor {
    const { operation, domain = '', attributes = {}, output = 0, inputs, shape, derivative } = specification
    const { type = this.precision } = specification
    for (const input of inputs) {
      if (input.graph !== this) throw new Error(`${operation}: ${input.name} belongs to another graph`)
      if (input.definition.kind === 'loop' && input.definition.collected)
        throw new Error(`${operation}: ${describe(input)} has as many entries as the loop had iterations`)
    }
    const sources = inputs.map(({ index }) => index)
    const key = [operation, domain, JSON.stringify(attributes), output, sources, shape, type].join('|')
    return this.#once(key, () => ({
      name: operation,
      shape,
      type,
      definition: { kind: 'operation', operation, domain, attributes, output },
      inputs,
      derivative: derivative ? gradient => derivative(gradient, this.#known.get(key)!) : null,
    }))
  }

  /** The same values as `of`, differentiated by hand as a function of `inputs`. */
  composite(name: string, of: Tensor, inputs: readonly Tensor[], derivative: Derivative): Tensor {
    return this.#add({ name, shape: of.shape, type: of.type, definition: { kind: 'alias', of }, inputs, derivative })
  }

  #addInput(name: string, shape: Shape, type: ElementType, below: number | null): Tensor {
    if (this.#inputNames.has(name)) throw new Error(`input: there is already one called ${name}`)
    this.#inputNames.add(name)
    return this.#add({ name, shape, type, definition: { kind: 'input', below }, inputs: [], derivative: null })
  }

  #once(key: string, make: () => Omit<Tensor, 'graph' | 'index'>): Tensor {
    const known = this.#known.get(key)
    if (known) return known
    const tensor = this.#add(make())
    this.#known.set(key, tensor)
    return tensor
  }

  #add(properties: Omit<Tensor, 'graph' | 'index'>): Tensor {
    // Lists of axes and sizes (int64) may be empty: a scalar's shape is.
    for (const size of properties.shape)
      if (!Number.isInteger(size) || size < (properties.type === 'int64' ? 0 : 1))
        throw new Error(`${properties.name}: shape ${describeShape(properties.shape)} has a size that is not positive`)
    const index = this.#tensors.length
    const isInput = properties.definition.kind === 'input'
    const name = isInput || this.#scope === '' ? properties.name : `${this.#scope}/${properties.name}`
    const tensor: Tensor = { ...properties, name, graph: this, index }
    this.#tensors.push(tensor)
    return tensor
  }
}

/** Tells lists apart. Long ones, such as tables of angles, are written out nowhere but in the model. */
function contentOf(values: readonly number[]): string {
  if (values.length <= 32) return String(values)
  return createHash('sha256').update(Float64Array.from(values)).digest('base64')
}

/** A tensor's name and shape, for messages. */
export function describe(tensor: Tensor): string {
  return `${tensor.name} ${describeShape(tensor.shape)}`
}

/** The tensor that is computed: aliases exist for differentiation only. */
export function computed(tensor: Tensor): Tensor {
  return tensor.definition.kind === 'alias' ? computed(tensor.definition.of) : tensor
}

export function requireShape(tensor: Tensor, shape: Shape, operation: string): void {
  if (!sameShape(tensor.shape, shape))
    throw new Error(`${operation}: ${describe(tensor)} should have shape ${describeShape(shape)}`)
}

/** Everything that some tensors are computed from, themselves included, in an order where inputs come first. */
export function neededTensors(outputs: readonly Tensor[]): Tensor[] {
  const needed = new Set<Tensor>()
  const stack = outputs.map(computed)
  for (let tensor = stack.pop(); tensor; tensor = stack.pop()) {
    if (needed.has(tensor)) continue
    needed.add(tensor)
    for (const input of tensor.inputs) stack.push(computed(input))
  }
  return [...needed].sort((a, b) => a.index - b.index)
}
