/**
 * Which keys a query sees: made from numbers of positions and the lengths of rows, in the graph, once for all of its
 * layers.
 */
import type { Graph, Tensor } from '../graph/graph.ts'
import { broadcastShape } from '../graph/shape.ts'
import { reshape } from './arrangement.ts'

/**
 * A query sees a key when the key's rank is not above the query's, or when both have the same label. Whole numbers, one
 * a place in the row.
 */
export interface Visibility {
  readonly keyRanks: readonly number[]
  readonly queryRanks: readonly number[]
  readonly labels?: { readonly keys: readonly number[]; readonly queries: readonly number[] }
}

const range = (size: number) => Array.from({ length: size }, (_, index) => index)

/** Itself and what came before. */
export function causal(positions: number): Visibility {
  return { keyRanks: range(positions), queryRanks: range(positions) }
}

/** The query's block, and the blocks before it. */
export function blockCausal(positions: number, block: number): Visibility {
  const ranks = range(positions).map(position => Math.floor(position / block))
  return { keyRanks: ranks, queryRanks: ranks }
}

/**
 * Entries are noisy and clean in turns, two a position. Noisy ones see the noisy ones of their block and the clean ones
 * of earlier blocks; clean ones see the clean ones up to their block.
 */
export function blockDiffusion(entries: number, block: number): Visibility {
  const noisy = (entry: number) => entry % 2 === 0
  const blockOf = (entry: number) => Math.floor(entry / 2 / block)
  const beyond = entries
  return {
    keyRanks: range(entries).map(entry => (noisy(entry) ? beyond : blockOf(entry))),
    queryRanks: range(entries).map(entry => (noisy(entry) ? blockOf(entry) - 1 : blockOf(entry))),
    labels: {
      keys: range(entries).map(entry => (noisy(entry) ? blockOf(entry) : -1)),
      queries: range(entries).map(entry => (noisy(entry) ? blockOf(entry) : -2)),
    },
  }
}

/** (1, queries, keys), true where seen, in every row. */
export function visible(graph: Graph, { keyRanks, queryRanks, labels }: Visibility): Tensor {
  const column = (values: readonly number[]) => graph.constant(values, [1, values.length, 1], 'int32')
  const row = (values: readonly number[]) => graph.constant(values, [1, 1, values.length], 'int32')
  const notAbove = compare('LessOrEqual', row(keyRanks), column(queryRanks))
  if (!labels) return notAbove
  return either(notAbove, compare('Equal', row(labels.keys), column(labels.queries)))
}

/** Lengths (rows) → (rows, 1, keys), true for the real ones, which come first. */
export function real(lengths: Tensor, keys: number): Tensor {
  const places = lengths.graph.constant(range(keys), [1, 1, keys], 'int32')
  return compare('Less', places, reshape(lengths, [lengths.shape[0]!, 1, 1]))
}

export function both(a: Tensor, b: Tensor): Tensor {
  return compare('And', a, b)
}

export function either(a: Tensor, b: Tensor): Tensor {
  return compare('Or', a, b)
}

function compare(operation: string, a: Tensor, b: Tensor): Tensor {
  const shape = broadcastShape(a.shape, b.shape)
  if (!shape) throw new Error(`${operation}: masks of shapes (${a.shape}) and (${b.shape}) do not fit`)
  return a.graph.operation({ operation, inputs: [a, b], shape, type: 'bool' })
}
