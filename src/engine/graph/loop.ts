/**
 * Repeats a part of a graph: values that each iteration takes from the one before, and values that are collected from all of
 * them. What the body needs but does not depend on the iteration is computed once, outside. Loops are not differentiable.
 */
import { computed, describe, type Graph, type LoopBody, neededTensors, requireShape, type Tensor } from './graph.ts'

export interface LoopStep {
  /** Whether there is another iteration after this one (bool, a scalar). */
  readonly proceed: Tensor
  /** The next values of what is carried, by the same names. */
  readonly carried: Readonly<Record<string, Tensor>>
  readonly collected: Readonly<Record<string, Tensor>>
}

export interface LoopResult {
  /** As the last iteration left it. */
  readonly carried: Readonly<Record<string, Tensor>>
  /** (iterations, …shape): declared with the most iterations there may be; nothing in the graph may use it. */
  readonly collected: Readonly<Record<string, Tensor>>
}

export interface LoopSpecification {
  /** How many iterations there are at most, given at each run: (1) int32. */
  readonly iterations: Tensor
  /** Bound of `iterations`, for the shapes of what is collected. */
  readonly mostIterations: number
  /** What the first iteration takes; at least one. */
  readonly initial: Readonly<Record<string, Tensor>>
  /** `iteration`: its number, from 0 on (int64, a scalar). */
  body(iteration: Tensor, carried: Readonly<Record<string, Tensor>>): LoopStep
}

export function loop(graph: Graph, specification: LoopSpecification): LoopResult {
  const { iterations, mostIterations, initial } = specification
  const names = Object.keys(initial)
  if (names.length === 0) throw new Error('loop: nothing is carried from one iteration to the next')
  const iteration = graph.entering('iteration', [], 'int64')
  const entering = names.map(name => graph.entering(name, initial[name]!.shape, initial[name]!.type))
  const step = specification.body(iteration, Object.fromEntries(names.map((name, index) => [name, entering[index]!])))

  const next = names.map((name, index) => {
    const tensor = step.carried[name]
    if (!tensor) throw new Error(`loop: the body carries no ${name} on`)
    requireShape(tensor, entering[index]!.shape, `loop: ${name}`)
    if (tensor.type !== entering[index]!.type)
      throw new Error(`loop: ${describe(tensor)} holds ${tensor.type}, ${name} is ${entering[index]!.type}`)
    return tensor
  })
  const collectedNames = Object.keys(step.collected)
  const collected = collectedNames.map(name => step.collected[name]!)
  const body: LoopBody = { entering: [iteration, ...entering], proceed: step.proceed, leaving: [...next, ...collected] }
  const count = graph.operation({
    operation: 'Cast',
    attributes: { to: 7 },
    inputs: [iterations],
    shape: [1],
    type: 'int64',
  })
  const inputs = [count, ...names.map(name => initial[name]!), ...outsideOf(body)]

  const output = (index: number, isCollected: boolean) => {
    const { shape } = body.leaving[index]!
    return graph.loopOutput(body, index, isCollected, isCollected ? [mostIterations, ...shape] : shape, inputs)
  }
  return {
    carried: Object.fromEntries(names.map((name, index) => [name, output(index, false)])),
    collected: Object.fromEntries(collectedNames.map((name, index) => [name, output(names.length + index, true)])),
  }
}

/** The tensors of a loop's body in order: those that change with the iteration, without those that enter. */
export function insideOf(body: LoopBody): Tensor[] {
  const changing = new Set(body.entering)
  const inside: Tensor[] = []
  for (const tensor of neededTensors([body.proceed, ...body.leaving]))
    if (tensor.inputs.some(input => changing.has(computed(input)))) {
      changing.add(tensor)
      inside.push(tensor)
    }
  return inside
}

/** What the body takes from outside. */
function outsideOf(body: LoopBody): Tensor[] {
  const inside = insideOf(body)
  const known = new Set([...body.entering, ...inside])
  const taken = [body.proceed, ...body.leaving, ...inside.flatMap(({ inputs }) => inputs)].map(computed)
  return [...new Set(taken.filter(tensor => !known.has(tensor)))]
}
