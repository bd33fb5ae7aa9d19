/**
 * The decoder transformer as a model. Its options are those of DecoderConfiguration, its parameters are made in
 * decoder-parameters.ts, its blocks are in decoder-stack.ts.
 */
import { causalAttention } from '../algebra/attention.ts'
import { rotary } from '../algebra/rotary.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { checkDecoder, type DecoderConfiguration } from './decoder-configuration.ts'
import { decoderParameters, initialDecoderValues } from './decoder-parameters.ts'
import { type DecoderResult, decoderStack } from './decoder-stack.ts'
import type { Model } from './model.ts'

/** Throws one error with all that is wrong. Read-outs are the hidden states: `hidden.0` after the embedding, then one a block. */
export function decoder(configuration: DecoderConfiguration): Model {
  checkDecoder(configuration)
  const { vocabulary, contextLength, depth, width } = configuration
  const states = Array.from({ length: depth + 1 }, (_, block) => `hidden.${block}`)
  return {
    kind: 'decoder',
    configuration,
    vocabulary,
    contextLength,
    inputs: { tokens: true, encoderTokens: false, features: 0 },
    parameters: decoderParameters(configuration),
    readouts: Object.fromEntries(states.map(name => [name, width])),
    initialValues: seed => initialDecoderValues(configuration, seed),
    build({ parameters, rows, tokens }) {
      const { logits, hidden } = wholePass(configuration, parameters, tokens, rows)
      return { logits, readouts: new Map(states.map((name, block) => [name, hidden[block]!])) }
    },
    incremental: null,
  }
}

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
  return wholePass(configuration, parameters, tokens, rows).logits
}

function wholePass(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  tokens: Tensor,
  rows: number,
): DecoderResult {
  const place = configuration.positions === 'rotary' ? rotary : (heads: Tensor) => heads
  return decoderStack(configuration, parameters, tokens, {
    rows,
    attend: (_, { queries, keys, values }) => causalAttention(place(queries), place(keys), values),
  })
}
