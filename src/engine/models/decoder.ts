/**
 * The decoder transformer: from tokens to logits. Its options are those of DecoderConfiguration; its parameters are
 * made in decoder-parameters.ts.
 */
import { softCap } from '../algebra/activation.ts'
import { add, multiply, scale } from '../algebra/arithmetic.ts'
import { concatenate, reshape, split, transpose } from '../algebra/arrangement.ts'
import { causalAttention } from '../algebra/attention.ts'
import { lookUpRows } from '../algebra/lookup.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import { rootMeanSquareNorm } from '../algebra/root-mean-square.ts'
import { rotary } from '../algebra/rotary.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { decoderParameters } from './decoder-parameters.ts'
import { feedForward, withGain } from './feed-forward.ts'

/** Parameters are inputs of the graph, under their names. */
export function decoderInputs(graph: Graph, configuration: DecoderConfiguration): Map<string, Tensor> {
  return new Map(decoderParameters(configuration).map(({ name, shape }) => [name, graph.input(name, shape)]))
}

/** Token ids (rows × positions), row after row → logits (rows × positions, vocabulary). */
export function decoderLogits(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  tokens: Tensor,
  rows: number,
): Tensor {
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

  let hidden = lookUpRows(parameter('embedding'), tokens)
  for (let block = 0; block < depth; block++) {
    hidden = residual(hidden, `blocks.${block}.attention`, (input, gain) =>
      attention(configuration, parameters, `blocks.${block}.attention`, input, gain, rows),
    )
    hidden = residual(hidden, `blocks.${block}.feedForward`, (input, gain) =>
      feedForward(configuration, parameters, `blocks.${block}.feedForward`, input, gain),
    )
  }
  const normalised = multiply(rootMeanSquareNorm(hidden), parameter('norm'))
  const logits = tiedEmbeddings
    ? matrixProduct(normalised, parameter('embedding'), { transposeB: true })
    : matrixProduct(normalised, parameter('head'))
  return logitSoftCap === null ? logits : softCap(logits, logitSoftCap)
}

/** `gain`: of the norm before it, where there is one. */
function attention(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  input: Tensor,
  gain: Tensor | null,
  rows: number,
): Tensor {
  const { width, heads, keyValueHeads, queryKeyNorm, positions } = configuration
  const channels = width / heads
  const count = input.shape[0]!
  const parameter = (part: string) => parameters.get(`${name}.${part}`)!

  // One product for queries, keys and values, and one tensor (rows, heads, positions, channels) for all their heads.
  const packed = matrixProduct(
    input,
    withGain(concatenate([parameter('query'), parameter('key'), parameter('value')], 1), gain),
  )
  const allHeads = heads + 2 * keyValueHeads
  const byHead = transpose(reshape(packed, [rows, count / rows, allHeads, channels]), [0, 2, 1, 3])
  let [queries, keys, values] = split(byHead, 1, [heads, keyValueHeads, keyValueHeads]) as [Tensor, Tensor, Tensor]
  if (queryKeyNorm) {
    queries = multiply(rootMeanSquareNorm(queries), parameter('queryNorm'))
    keys = multiply(rootMeanSquareNorm(keys), parameter('keyNorm'))
  }
  if (positions === 'rotary') {
    queries = rotary(queries)
    keys = rotary(keys)
  }
  const attended = causalAttention(queries, keys, values)
  return matrixProduct(reshape(transpose(attended, [0, 2, 1, 3]), [count, width]), parameter('output'))
}
