/**
 * What surrounds attention in a block: the projections to heads before it, and back to the hidden state after it.
 */
import { multiply } from '../algebra/arithmetic.ts'
import { concatenate, reshape, split, transpose } from '../algebra/arrangement.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { rootMeanSquareNorm } from '../algebra/root-mean-square.ts'
import type { Tensor } from '../graph/graph.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { withGain } from './norm.ts'

export type HeadsShape = Pick<
  DecoderConfiguration,
  'heads' | 'headWidth' | 'keyValueHeads' | 'queryKeyNorm' | 'normEpsilon'
>

/**
 * (rows, heads, positions, channels); keys and values have the heads that query heads share. Positions are not applied
 * yet.
 */
export interface Heads {
  readonly queries: Tensor
  readonly keys: Tensor
  readonly values: Tensor
}

/** `name`: of the branch. `gain`: of the norm before it, which the matrices still have to take in. */
export function projectHeads(
  shape: HeadsShape,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  input: Tensor,
  gain: Tensor | null,
  rows: number,
): Heads {
  const { heads, keyValueHeads } = shape
  // One product for queries, keys and values, and one tensor (rows, heads, positions, channels) for all their heads.
  const matrices = ['query', 'key', 'value'].map(part => parameters.get(`${name}.${part}`)!)
  const packed = matrixProduct(input, withGain(concatenate(matrices, 1), gain))
  const byHead = separate(packed, rows, shape.headWidth)
  const [queries, keys, values] = split(byHead, 1, [heads, keyValueHeads, keyValueHeads]) as [Tensor, Tensor, Tensor]
  return {
    queries: headNorm(shape, parameters, `${name}.queryNorm`, queries),
    keys: headNorm(shape, parameters, `${name}.keyNorm`, keys),
    values,
  }
}

/** For cross-attention: (rows, heads, positions, channels). */
export function projectQueries(
  shape: HeadsShape,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  input: Tensor,
  gain: Tensor | null,
  rows: number,
): Tensor {
  const packed = matrixProduct(input, withGain(parameters.get(`${name}.query`)!, gain))
  return headNorm(shape, parameters, `${name}.queryNorm`, separate(packed, rows, shape.headWidth))
}

/** For cross-attention, from what the encoder made: (rows, key-value heads, positions, channels). */
export function projectKeysAndValues(
  shape: HeadsShape,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  encoded: Tensor,
  rows: number,
): { readonly keys: Tensor; readonly values: Tensor } {
  const matrices = ['key', 'value'].map(part => parameters.get(`${name}.${part}`)!)
  const byHead = separate(matrixProduct(encoded, concatenate(matrices, 1)), rows, shape.headWidth)
  const [keys, values] = split(byHead, 1, [shape.keyValueHeads, shape.keyValueHeads]) as [Tensor, Tensor]
  return { keys: headNorm(shape, parameters, `${name}.keyNorm`, keys), values }
}

/** (rows × positions, heads × channels) → (rows, heads, positions, channels). */
function separate(packed: Tensor, rows: number, channels: number): Tensor {
  const [count, size] = packed.shape as [number, number]
  return transpose(reshape(packed, [rows, count / rows, size / channels, channels]), [0, 2, 1, 3])
}

function headNorm(
  { queryKeyNorm, normEpsilon }: HeadsShape,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  heads: Tensor,
): Tensor {
  return queryKeyNorm ? multiply(rootMeanSquareNorm(heads, normEpsilon), parameters.get(name)!) : heads
}

/** (rows, heads, positions, channels) → (rows × positions, width). */
export function joinHeads(parameters: ReadonlyMap<string, Tensor>, name: string, attended: Tensor): Tensor {
  const [rows, heads, positions, channels] = attended.shape as [number, number, number, number]
  const joined = reshape(transpose(attended, [0, 2, 1, 3]), [rows * positions, heads * channels])
  return matrixProduct(joined, parameters.get(`${name}.output`)!)
}
