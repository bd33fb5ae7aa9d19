/**
 * New positions of rows that have a past, all at once: what has to be kept of them, and for whom it may concern the logits.
 */
import { logSoftmax } from '../algebra/softmax.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import type { Model } from '../models/model.ts'
import type { ParameterTensors } from '../passes/computation.ts'
import { appendingCache, type CacheShape, pastTensors, placesBehind } from './cache-tensors.ts'

export interface ExtensionShape extends CacheShape {
  /** New positions of each row. */
  readonly count: number
  /** Whether log-probabilities of the next token are wanted, at each new position. */
  readonly logProbabilities: boolean
}

/** `fresh.<entry>`: (rows, …shape) with the new positions on the axis; `logProbabilities` (rows × count, vocabulary). */
export function extensionGraph(
  model: Model,
  parameters: ParameterTensors,
  shape: ExtensionShape,
): Record<string, Tensor> {
  const { rows, count } = shape
  const graph = new Graph()
  const { effective } = parameters(graph, true)
  const tokens = graph.indices('data.tokens', [rows * count], model.vocabulary)
  const { logits, fresh } = readBehind(graph, model, effective, shape, count, tokens)
  return {
    ...Object.fromEntries([...fresh].map(([name, tensor]) => [freshOutput(name), tensor])),
    ...(shape.logProbabilities && { logProbabilities: logSoftmax(logits) }),
  }
}

export const freshOutput = (entry: string): string => `fresh.${entry}`

/** Reads `count` new tokens of each row, (rows × count), behind what was seen, which becomes an input of the graph. */
export function readBehind(
  graph: Graph,
  model: Model,
  parameters: ReadonlyMap<string, Tensor>,
  shape: CacheShape,
  count: number,
  tokens: Tensor,
): { readonly logits: Tensor; readonly fresh: ReadonlyMap<string, Tensor> } {
  const { rows, capacity } = shape
  const incremental = model.incremental!
  const past = pastTensors(graph, incremental, shape)
  const range = graph.constant(
    Array.from({ length: count }, (_, index) => index),
    [1, count],
    'int32',
  )
  const places = placesBehind(past.lengths, range, capacity + count, model.contextLength)
  const fresh = new Map<string, Tensor>()
  const { logits } = incremental.step({
    graph,
    parameters,
    rows,
    count,
    tokens,
    places,
    placesBelow: Math.min(capacity + count, model.contextLength),
    cache: appendingCache(past, shape, places, fresh),
  })
  return { logits, fresh }
}
