/**
 * What a trainer trains and what stays: without adapters all parameters of the model; with them those of the adapters alone, over a base
 * that is shared and never written to.
 */
import { withAdapters } from '../adapters/adapted-weights.ts'
import { adapterParameters, initialAdapterValues } from '../adapters/adapter-parameters.ts'
import type { Adapters } from '../engine.ts'
import type { Graph } from '../graph/graph.ts'
import { sizeOf } from '../graph/shape.ts'
import type { Model } from '../models/model.ts'
import type { Parameter } from '../parameter.ts'
import { type ParameterTensors, plainParameters } from '../passes/computation.ts'
import { described, requireNumbers } from '../required-types.ts'

type Values = ReadonlyMap<string, Float32Array>

export interface Weights {
  /** What is trained, in order. */
  readonly parameters: readonly Parameter[]
  /** Of what is trained; steps change the arrays. */
  readonly trained: Values
  /** Of what is not. */
  readonly base: Values
}

/** Given values must be of parameters that there are, and fit; the others begin as the model and its adapters begin. */
export function initialWeights(model: Model, adapters: Adapters | null, seed: number, given: Values): Weights {
  const added = adapters ? adapterParameters(model.parameters, adapters) : []
  checkValues('createTrainer', [...model.parameters, ...added], given)
  const isComplete = model.parameters.every(({ name }) => given.has(name))
  const initial = isComplete ? given : new Map([...modelValues(model, seed), ...given])
  const base = new Map(model.parameters.map(({ name }) => [name, initial.get(name)!]))
  const begun = adapters ? initialAdapterValues(model.parameters, adapters, seed) : base
  const parameters = adapters ? added : model.parameters
  const trained = new Map(parameters.map(({ name }) => [name, (given.get(name) ?? begun.get(name)!).slice()]))
  return { parameters, trained, base: adapters ? base : new Map() }
}

/** Of a user's own model they may be of anything. */
function modelValues(model: Model, seed: number): Values {
  const values = model.initialValues(seed)
  const place = 'createTrainer: initialValues of the model'
  checkValues(place, model.parameters, values)
  for (const { name } of model.parameters)
    if (!values.has(name)) throw new Error(`${place}: there are no values of ${name}`)
  return values
}

/** Of everything together, in the model's order and then the adapters'. */
export function allValues({ base, trained }: Weights): Map<string, Float32Array> {
  return new Map([...base, ...trained])
}

export function parameterTensors(model: Model, adapters: Adapters | null): ParameterTensors {
  if (!adapters) return plainParameters(model.parameters)
  const added = adapterParameters(model.parameters, adapters)
  const inputs = (graph: Graph, parameters: readonly Parameter[]) =>
    new Map(parameters.map(({ name, shape }) => [name, graph.input(name, shape)]))
  return (graph, adapter) => {
    const base = inputs(graph, model.parameters)
    if (!adapter) return { trained: new Map(), effective: base }
    const trained = inputs(graph, added)
    return { trained, effective: withAdapters(base, trained, adapters) }
  }
}

/** Throws a sentence where a value is of no parameter or has another length. */
export function checkValues(verb: string, parameters: readonly Parameter[], values: Values): void {
  if (!(values instanceof Map)) throw new Error(`${verb}: the values are ${described(values)}: expected a Map by name`)
  const sizes = new Map(parameters.map(({ name, shape }) => [name, sizeOf(shape)]))
  for (const [name, array] of values) {
    const size = sizes.get(name)
    if (size === undefined) throw new Error(`${verb}: there is no parameter ${name} to give values to`)
    requireNumbers(`${verb}: ${name}`, array)
    if (array.length !== size) throw new Error(`${verb}: ${name} has ${array.length} values: expected ${size}`)
  }
}
