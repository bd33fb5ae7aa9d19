/**
 * The decoder's blocks, from tokens to logits, as the whole forward pass and the step by step one share them. What tells the
 * two apart, where positions are and which keys a query sees, is given by the caller.
 */
import { softCap } from '../algebra/activation.ts'
import { add, multiply, scale } from '../algebra/arithmetic.ts'
import { concatenate, reshape, split, transpose } from '../algebra/arrangement.ts'
import { lookUpRows } from '../algebra/lookup.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { rootMeanSquareNorm } from '../algebra/root-mean-square.ts'
import type { Tensor } from '../graph/graph.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { feedForward, withGain } from './feed-forward.ts'

/** (rows, heads, positions, channels); keys and values have the heads that query heads share. */
export interface Heads {
  readonly queries: Tensor
  readonly keys: Tensor
  readonly values: Tensor
}

export interface DecoderPass {
  readonly rows: number
  /** What the queries of a block take from its values: the queries' shape. Rotary positions are not applied yet. */
  attend(block: number, heads: Heads): Tensor
}

export interface DecoderResult {
  /** (tokens, vocabulary). */
  readonly logits: Tensor
  /** (tokens, width) each: after the embedding, then after each block. */
  readonly hidden: readonly Tensor[]
}

/** Token ids, row after row, the same number in each. */
export function decoderStack(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  tokens: Tensor,
  pass: DecoderPass,
): DecoderResult {
  const { depth, norm, residualScaling, tiedEmbeddings, logitSoftCap } = configuration
  const { graph } = tokens
  const parameter = (name: string) => parameters.get(name)!
  const branchScale = residualScaling === 'depth' ? 1 / Math.sqrt(2 * depth) : 1

  /** Adds a branch to the hidden state, with its norm before or after it. */
  const residual = (hidden: Tensor, name: string, branch: (input: Tensor, gain: Tensor | null) => Tensor): Tensor =>
    graph.within(name, () => {
      const gain = parameter(`${name}.norm`)
      if (norm === 'pre') return add(hidden, scale(branch(rootMeanSquareNorm(hidden), gain), branchScale))
      return add(hidden, multiply(rootMeanSquareNorm(branch(hidden, null)), scale(gain, branchScale)))
    })

  const states = [lookUpRows(parameter('embedding'), tokens)]
  for (let block = 0; block < depth; block++) {
    const attended = residual(states[block]!, `blocks.${block}.attention`, (input, gain) =>
      attention(configuration, parameters, block, input, gain, pass),
    )
    states.push(
      residual(attended, `blocks.${block}.feedForward`, (input, gain) =>
        feedForward(configuration, parameters, `blocks.${block}.feedForward`, input, gain),
      ),
    )
  }
  const normalised = multiply(rootMeanSquareNorm(states[depth]!), parameter('norm'))
  const logits = tiedEmbeddings
    ? matrixProduct(normalised, parameter('embedding'), { transposeB: true })
    : matrixProduct(normalised, parameter('head'))
  return { logits: logitSoftCap === null ? logits : softCap(logits, logitSoftCap), hidden: states }
}

/** `gain`: of the norm before it, where there is one. */
function attention(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  block: number,
  input: Tensor,
  gain: Tensor | null,
  pass: DecoderPass,
): Tensor {
  const { width, heads, keyValueHeads, queryKeyNorm } = configuration
  const channels = width / heads
  const count = input.shape[0]!
  const parameter = (part: string) => parameters.get(`blocks.${block}.attention.${part}`)!

  // One product for queries, keys and values, and one tensor (rows, heads, positions, channels) for all their heads.
  const packed = matrixProduct(
    input,
    withGain(concatenate([parameter('query'), parameter('key'), parameter('value')], 1), gain),
  )
  const allHeads = heads + 2 * keyValueHeads
  const byHead = transpose(reshape(packed, [pass.rows, count / pass.rows, allHeads, channels]), [0, 2, 1, 3])
  let [queries, keys, values] = split(byHead, 1, [heads, keyValueHeads, keyValueHeads]) as [Tensor, Tensor, Tensor]
  if (queryKeyNorm) {
    queries = multiply(rootMeanSquareNorm(queries), parameter('queryNorm'))
    keys = multiply(rootMeanSquareNorm(keys), parameter('keyNorm'))
  }
  const attended = pass.attend(block, { queries, keys, values })
  return matrixProduct(reshape(transpose(attended, [0, 2, 1, 3]), [count, width]), parameter('output'))
}
