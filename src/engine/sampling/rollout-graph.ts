/**
 * Several tokens of several rows in one run: a loop whose body is the model's step and the choice of a token. Parameters, the past and
 * the uniform numbers are inputs; the loop ends early when every row has ended.
 */
import { reshape } from '../algebra/arrangement.ts'
import { zeros } from '../algebra/broadcast.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { loop } from '../graph/loop.ts'
import type { Model } from '../models/model.ts'
import type { ParameterTensors } from '../passes/computation.ts'
import { type CacheShape, growingEntries, pastTensors, placesBehind, writingCache } from './cache-tensors.ts'
import { type ChoiceVariant, choiceInputs, chooseToken } from './choose-token.ts'

export interface RolloutShape extends CacheShape {
  /** Most tokens that are drawn in one run. */
  readonly length: number
  /** Most tokens of a row that end it by themselves. */
  readonly stops: number
  readonly choice: ChoiceVariant
}

/** `written.<entry>`: keys and values of the positions of this run. The others by token drawn: (tokens, rows, …). */
export function rolloutGraph(model: Model, parameters: ParameterTensors, shape: RolloutShape): Record<string, Tensor> {
  const { rows, capacity, length, stops, choice: variant } = shape
  const incremental = model.incremental!
  const graph = new Graph()
  const { effective } = parameters(graph, true)
  const past = pastTensors(graph, incremental, shape)
  const entries = growingEntries(incremental, length)
  const inputs = choiceInputs(graph, variant, rows, model.vocabulary)
  const uniforms = graph.input('data.uniforms', [length, rows], 'float64')
  const stopTokens = stops > 0 ? graph.input('row.stops', [rows, stops], 'int32') : null
  const limit = graph.input('row.limit', [rows], 'int32')
  const start = graph.indices('data.tokens', [rows], model.vocabulary)

  const { carried, collected } = loop(graph, {
    iterations: graph.input('data.iterations', [1], 'int32'),
    mostIterations: length,
    initial: {
      token: start,
      stopped: graph.constant(new Array<number>(rows).fill(0), [rows], 'bool'),
      ...Object.fromEntries(entries.map(({ name, shape }) => [name, zeros(graph, [rows, ...shape])])),
    },
    body(iteration, carried) {
      const written = new Map<string, Tensor>()
      const iteration32 = cast(iteration, 6, 'int32')
      const { logits } = incremental.step({
        graph,
        parameters: effective,
        rows,
        count: 1,
        tokens: carried['token']!,
        places: placesBehind(past.lengths, iteration32, capacity + length, model.contextLength),
        placesBelow: Math.min(capacity + length, model.contextLength),
        cache: writingCache(past, shape, entries, new Map(Object.entries(carried)), iteration, written),
      })
      const uniform = graph.operation({
        operation: 'Gather',
        attributes: { axis: 0 },
        inputs: [uniforms, iteration],
        shape: [rows],
        type: 'float64',
      })
      const choice = chooseToken(logits, inputs, variant, reshape(uniform, [rows, 1]))
      const stopped = stopTokens ? either(carried['stopped']!, isOneOf(choice.token, stopTokens)) : carried['stopped']!
      return {
        proceed: someGoesOn(stopped, limit, iteration32),
        carried: { token: choice.token, stopped, ...Object.fromEntries(written) },
        collected: { ...choice },
      }
    },
  })
  return {
    ...collected,
    ...Object.fromEntries(entries.map(({ name }) => [writtenOutput(name), carried[name]!])),
  }
}

export const writtenOutput = (entry: string): string => `written.${entry}`

/** (rows) of (rows, n). */
function isOneOf(token: Tensor, tokens: Tensor): Tensor {
  const { graph } = token
  const [rows, count] = tokens.shape as [number, number]
  const inputs = [reshape(token, [rows, 1]), tokens]
  const equal = graph.operation({ operation: 'Equal', inputs, shape: [rows, count], type: 'bool' })
  const most = graph.operation({
    operation: 'ReduceMax',
    attributes: { keepdims: 0 },
    inputs: [cast(equal, 6, 'int32'), graph.constant([1], [1], 'int64')],
    shape: [rows],
    type: 'int32',
  })
  return cast(most, 9, 'bool')
}

const either = (a: Tensor, b: Tensor) =>
  a.graph.operation({ operation: 'Or', inputs: [a, b], shape: a.shape, type: 'bool' })

/** Whether some row has not stopped and may have more tokens after those of this iteration. */
function someGoesOn(stopped: Tensor, limit: Tensor, iteration: Tensor): Tensor {
  const { graph, shape } = stopped
  const remaining = graph.operation({ operation: 'Sub', inputs: [limit, iteration], shape, type: 'int32' })
  const inputs = [stopped, graph.constant([0], [], 'int32'), remaining]
  const ofGoing = graph.operation({ operation: 'Where', inputs, shape, type: 'int32' })
  const most = graph.operation({
    operation: 'ReduceMax',
    attributes: { keepdims: 0 },
    inputs: [ofGoing, graph.constant([0], [1], 'int64')],
    shape: [],
    type: 'int32',
  })
  const another = [most, graph.constant([1], [], 'int32')]
  return graph.operation({ operation: 'Greater', inputs: another, shape: [], type: 'bool' })
}

function cast(a: Tensor, to: number, type: 'int32' | 'bool'): Tensor {
  return a.graph.operation({ operation: 'Cast', attributes: { to }, inputs: [a], shape: a.shape, type })
}
