/**
 * Attention with linear biases (ALiBi; Press et al., 2022): scores fall in proportion to the distance, at a slope of
 * each head's own.
 */
import type { Graph, Tensor } from '../graph/graph.ts'
import { multiply, subtract } from './arithmetic.ts'

/**
 * For a power of two n, 2^(-8 i / n) for i from 1 to n. For other numbers, those of the power of two below, and then
 * every other one of the power of two above, from the first on, as the paper's code has it.
 */
export function alibiSlopes(heads: number): number[] {
  const below = 2 ** Math.floor(Math.log2(heads))
  const slopes = (count: number) => Array.from({ length: count }, (_, head) => 2 ** ((-8 * (head + 1)) / count))
  const between = slopes(2 * below).filter((_, head) => head % 2 === 0)
  return [...slopes(below), ...between.slice(0, heads - below)]
}

/** -slope × |query's place - key's place|: (heads, queries, keys). A constant, without derivative. */
export function alibiBias(
  graph: Graph,
  heads: number,
  queryPlaces: readonly number[],
  keyPlaces: readonly number[],
): Tensor {
  const queries = graph.constant(queryPlaces, [1, queryPlaces.length, 1])
  const keys = graph.constant(keyPlaces, [1, 1, keyPlaces.length])
  const difference = subtract(queries, keys)
  const distance = graph.operation({ operation: 'Abs', inputs: [difference], shape: difference.shape })
  const slopes = alibiSlopes(heads).map(slope => -slope)
  return multiply(graph.constant(slopes, [heads, 1, 1]), distance)
}
