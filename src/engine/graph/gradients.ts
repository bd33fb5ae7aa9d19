/**
 * Reverse-mode differentiation: adds to a graph the tensors that hold the gradients of a scalar.
 */
import { add } from '../algebra/arithmetic.ts'
import { concatenate } from '../algebra/arrangement.ts'
import { zeros } from '../algebra/broadcast.ts'
import { describe, type PartialGradient, type Tensor } from './graph.ts'
import { sameShape } from './shape.ts'

type Contribution = Tensor | PartialGradient

/** The gradient of `scalar` by each of `sources`, in their order; zeros where it does not depend on one. */
export function gradientsOf(scalar: Tensor, sources: readonly Tensor[]): Tensor[] {
  const { graph } = scalar
  if (scalar.shape.length > 0) throw new Error(`gradientsOf: ${describe(scalar)} is not a scalar`)
  const relevant = dependents(sources, scalar.index)
  const contributions = new Map<Tensor, Contribution[]>([[scalar, [graph.scalar(1)]]])
  const total = new Map<Tensor, Tensor>()

  // Inputs come before what is made of them, so going backwards every gradient is complete when it is passed on.
  for (let index = scalar.index; index >= 0; index--) {
    const tensor = graph.tensors[index]!
    const received = contributions.get(tensor)
    if (!received || !relevant.has(tensor)) continue
    const gradient = combine(received, tensor)
    total.set(tensor, gradient)
    if (tensor.inputs.length === 0) continue
    if (!tensor.derivative) throw new Error(`gradientsOf: ${describe(tensor)} has no derivative`)
    const byInput = tensor.derivative(gradient)
    for (const [position, input] of tensor.inputs.entries()) {
      if (!relevant.has(input)) continue
      const contribution = byInput[position]
      if (contribution === undefined)
        throw new Error(
          `gradientsOf: the derivative of ${describe(tensor)} gave ${byInput.length} gradients: ` +
            `expected one for each of ${tensor.inputs.length} inputs, null where there is none`,
        )
      if (contribution === null) continue
      const list = contributions.get(input)
      if (list) list.push(contribution)
      else contributions.set(input, [contribution])
    }
  }
  return sources.map(source => total.get(source) ?? zeros(graph, source.shape))
}

/** The tensors up to an index that depend on a source, sources included. */
function dependents(sources: readonly Tensor[], last: number): Set<Tensor> {
  const result = new Set(sources)
  for (const tensor of sources[0]?.graph.tensors.slice(0, last + 1) ?? [])
    if (tensor.inputs.some(input => result.has(input))) result.add(tensor)
  return result
}

function combine(contributions: readonly Contribution[], tensor: Tensor): Tensor {
  const whole: Tensor[] = []
  const parts: PartialGradient[] = []
  for (const contribution of contributions)
    if ('part' in contribution) parts.push(contribution)
    else whole.push(contribution)
  for (const group of disjointGroups(parts)) whole.push(assemble(group, tensor))
  for (const gradient of whole)
    if (!sameShape(gradient.shape, tensor.shape))
      throw new Error(`gradientsOf: the gradient ${describe(gradient)} does not fit ${describe(tensor)}`)
  return whole.reduce((sum, gradient) => add(sum, gradient))
}

/** Parts in groups that share an axis and do not overlap; each in order of start. Slices of one split come out as one group. */
function disjointGroups(parts: readonly PartialGradient[]): PartialGradient[][] {
  const groups: PartialGradient[][] = []
  for (const part of [...parts].sort((a, b) => a.axis - b.axis || a.start - b.start)) {
    const group = groups.find(candidate => {
      const last = candidate.at(-1)!
      return last.axis === part.axis && last.start + last.part.shape[last.axis]! <= part.start
    })
    if (group) group.push(part)
    else groups.push([part])
  }
  return groups
}

function assemble(parts: readonly PartialGradient[], tensor: Tensor): Tensor {
  const { axis } = parts[0]!
  const gap = (size: number) => zeros(tensor.graph, tensor.shape.with(axis, size))
  const pieces: Tensor[] = []
  let position = 0
  for (const { part, start } of parts) {
    if (start > position) pieces.push(gap(start - position))
    pieces.push(part)
    position = start + part.shape[axis]!
  }
  if (position < tensor.shape[axis]!) pieces.push(gap(tensor.shape[axis]! - position))
  return concatenate(pieces, axis)
}
