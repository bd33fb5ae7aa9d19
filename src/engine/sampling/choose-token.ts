/**
 * Draws a token a row in the graph: temperature, blocked tokens, top-k and top-p, then the inverse of the cumulative distribution at a
 * uniform number that is given. Sums of probabilities are in double precision: what is drawn depends on nothing but the row.
 */
import { add, multiply } from '../algebra/arithmetic.ts'
import { integers, reshape, slice } from '../algebra/arrangement.ts'
import { broadcastTo } from '../algebra/broadcast.ts'
import { exp } from '../algebra/functions.ts'
import { pick } from '../algebra/lookup.ts'
import { logSoftmax } from '../algebra/softmax.ts'
import type { ElementType, Graph, Tensor } from '../graph/graph.ts'
import { broadcastShape } from '../graph/shape.ts'

/** What a batch of rows needs of a choice: what no row asks for is not computed. */
export interface ChoiceVariant {
  /** Some row has a temperature other than 1. */
  readonly temperature: boolean
  /** Some row takes the most probable token. */
  readonly greedy: boolean
  readonly blocked: boolean
  /** How many of the most probable tokens have to be known to say what a top-k or a top-p of some row leaves; 0 where there is none. */
  readonly filter: number
  /** Some row asks which tokens could be drawn. */
  readonly support: boolean
  /** Most probable tokens to report. */
  readonly top: number
}

/** By row. */
export interface ChoiceInputs {
  /** 1/temperature; 1 where the most probable token is taken: (rows, 1). */
  readonly inverseTemperature: Tensor | null
  /** Bool (rows). */
  readonly greedy: Tensor | null
  /** 0, or very negative for a blocked token: (rows, vocabulary). */
  readonly blocked: Tensor | null
  /** Int32 (rows, 1); more than the vocabulary for a row from which nothing is to be taken away. */
  readonly topK: Tensor | null
  /** Double (rows, 1). */
  readonly topP: Tensor | null
}

export interface Choice {
  /** Int32 (rows). */
  readonly token: Tensor
  /** (rows, 1): of the model itself, and as drawn. */
  readonly logProbability: Tensor
  readonly drawnLogProbability: Tensor
  /** Bool (rows, vocabulary): what could be drawn. */
  readonly support?: Tensor
  /** (rows, top). */
  readonly topTokens?: Tensor
  readonly topLogProbabilities?: Tensor
}

export function choiceInputs(graph: Graph, variant: ChoiceVariant, rows: number, vocabulary: number): ChoiceInputs {
  return {
    inverseTemperature: variant.temperature ? graph.input('row.inverseTemperature', [rows, 1]) : null,
    greedy: variant.greedy ? graph.input('row.greedy', [rows], 'int32') : null,
    blocked: variant.blocked ? graph.input('row.blocked', [rows, vocabulary]) : null,
    topK: variant.filter > 0 ? graph.input('row.topK', [rows, 1], 'int32') : null,
    topP: variant.filter > 0 ? graph.input('row.topP', [rows, 1], 'float64') : null,
  }
}

/** `uniform`: (rows, 1) in double precision. */
export function chooseToken(logits: Tensor, inputs: ChoiceInputs, variant: ChoiceVariant, uniform: Tensor): Choice {
  const { graph } = logits
  const [rows, vocabulary] = logits.shape as [number, number]
  const own = logSoftmax(logits)
  const changed = inputs.inverseTemperature || inputs.blocked
  const tempered = inputs.inverseTemperature ? multiply(logits, inputs.inverseTemperature) : logits
  const meant = changed ? logSoftmax(inputs.blocked ? add(tempered, inputs.blocked) : tempered) : own

  const probabilities = cast(exp(meant), 'float64')
  const kept = inputs.topK && inputs.topP ? keptTokens(meant, inputs.topK, inputs.topP, variant.filter) : null
  const possible = kept ? apply('Mul', [probabilities, kept], meant.shape, 'float64') : probabilities
  const cumulative = cumulativeSum(possible)
  const total = slice(cumulative, 1, vocabulary - 1, 1)
  const mark = apply('Mul', [total, uniform], [rows, 1], 'float64')
  const drawn = indexOfLargest(cast(compare('Greater', cumulative, mark), 'int32'))
  const chosen = inputs.greedy ? choose(isSet(inputs.greedy), indexOfLargest(meant), drawn) : drawn
  const token = cast(chosen, 'int32')

  let drawnLogProbability = pick(meant, token)
  if (kept) {
    const mass = cast(apply('Log', [total], [rows, 1], 'float64'), graph.precision)
    drawnLogProbability = apply('Sub', [drawnLogProbability, mass], [rows, 1], graph.precision)
  }
  if (inputs.greedy)
    drawnLogProbability = choose(reshape(isSet(inputs.greedy), [rows, 1]), graph.scalar(0), drawnLogProbability)
  return {
    token,
    logProbability: pick(own, token),
    drawnLogProbability,
    ...(variant.support && kept && { support: compare('Greater', kept, graph.constant([0], [], 'float64')) }),
    ...(variant.top > 0 && mostProbable(own, variant.top)),
  }
}

/**
 * Double (rows, vocabulary): 1 for the tokens of the smallest set of most probable ones that has at least p of what the at most k most probable
 * ones have, else 0. Nothing beyond the `count` most probable ones is kept, but for rows that keep all.
 */
function keptTokens(logProbabilities: Tensor, topK: Tensor, topP: Tensor, count: number): Tensor {
  const { graph } = logProbabilities
  const [rows, vocabulary] = logProbabilities.shape as [number, number]
  const { values, indices } = sorted(logProbabilities, count)
  const shape = [rows, count]
  const range = Array.from({ length: count }, (_, rank) => rank)
  const ofFirst = cast(compare('Less', graph.constant(range, [1, count], 'int32'), topK), 'float64')
  const probabilities = apply('Mul', [cast(exp(values), 'float64'), ofFirst], shape, 'float64')
  const cumulative = cumulativeSum(probabilities)
  const before = apply('Sub', [cumulative, probabilities], shape, 'float64')
  const bound = apply('Mul', [slice(cumulative, 1, count - 1, 1), topP], [rows, 1], 'float64')
  const keptOfFirst = apply('Mul', [cast(compare('Less', before, bound), 'float64'), ofFirst], shape, 'float64')
  const all = cast(compare('Greater', topK, graph.constant([vocabulary], [], 'int32')), 'float64')
  const kept = apply('Max', [keptOfFirst, all], shape, 'float64')
  return graph.operation({
    operation: 'ScatterElements',
    attributes: { axis: 1 },
    inputs: [broadcastTo(all, [rows, vocabulary]), indices, kept],
    shape: [rows, vocabulary],
    type: 'float64',
  })
}

/** (rows, count) each, most probable first. */
export function mostProbable(logProbabilities: Tensor, count: number) {
  const { values, indices } = sorted(logProbabilities, count)
  return { topTokens: cast(indices, 'int32'), topLogProbabilities: values }
}

/** The largest of each row, largest first; of equal ones the earlier comes first. */
function sorted(a: Tensor, count: number): { readonly values: Tensor; readonly indices: Tensor } {
  const { graph } = a
  const shape = [a.shape[0]!, count]
  const top = { operation: 'TopK', attributes: { axis: 1 }, inputs: [a, integers(graph, [count])], shape }
  return { values: graph.operation(top), indices: graph.operation({ ...top, output: 1, type: 'int64' }) }
}

function cumulativeSum(a: Tensor): Tensor {
  return apply('CumSum', [a, a.graph.constant([1], [], 'int64')], a.shape, a.type)
}

/** (rows, size) → (rows), int64; the first of equal ones. */
function indexOfLargest(a: Tensor): Tensor {
  return a.graph.operation({
    operation: 'ArgMax',
    attributes: { axis: 1, keepdims: 0 },
    inputs: [a],
    shape: [a.shape[0]!],
    type: 'int64',
  })
}

const castCodes: Readonly<Record<ElementType, number>> = { float32: 1, int32: 6, int64: 7, bool: 9, float64: 11 }

export function cast(a: Tensor, type: ElementType): Tensor {
  if (a.type === type) return a
  const attributes = { to: castCodes[type] }
  return a.graph.operation({ operation: 'Cast', attributes, inputs: [a], shape: a.shape, type })
}

const isSet = (flags: Tensor) => cast(flags, 'bool')

function compare(operation: 'Greater' | 'Less', a: Tensor, b: Tensor): Tensor {
  return apply(operation, [a, b], broadcastShape(a.shape, b.shape)!, 'bool')
}

function choose(condition: Tensor, ifTrue: Tensor, ifFalse: Tensor): Tensor {
  return apply('Where', [condition, ifTrue, ifFalse], ifFalse.shape, ifFalse.type)
}

function apply(operation: string, inputs: readonly Tensor[], shape: readonly number[], type: ElementType): Tensor {
  return inputs[0]!.graph.operation({ operation, inputs, shape, type })
}
