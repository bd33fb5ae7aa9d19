/**
 * The decoder transformer as a model. Its options are those of DecoderConfiguration, its parameters are made in
 * decoder-parameters.ts, its blocks are in decoder-stack.ts.
 */
import type { Graph, Tensor } from '../graph/graph.ts'
import { addPlaces, attendWholeRows } from './decoder-attention.ts'
import { checkDecoder, type DecoderConfiguration } from './decoder-configuration.ts'
import { decoderParameters, initialDecoderValues } from './decoder-parameters.ts'
import { decoderHead, decoderStack } from './decoder-stack.ts'
import { incrementalDecoder } from './decoder-step.ts'
import { memoryBlock } from './memory-configuration.ts'
import { answerReadouts, askByHistory, memoryReadouts } from './memory-recall.ts'
import type { Model } from './model.ts'

/**
 * Throws one error with all that is wrong. Read-outs are the hidden states: `hidden.0` after the embedding, then one a block; and those
 * of a memory. The inner state is the one that the memory's answer was added to, read by the head.
 */
export function decoder(configuration: DecoderConfiguration): Model {
  checkDecoder(configuration)
  const { vocabulary, contextLength, depth, width, memory } = configuration
  const states = Array.from({ length: depth + 1 }, (_, block) => `hidden.${block}`)
  return {
    kind: 'decoder',
    configuration,
    vocabulary,
    contextLength,
    inputs: { tokens: true, encoderTokens: memory?.query === 'history', features: 0 },
    parameters: decoderParameters(configuration),
    readouts: { ...Object.fromEntries(states.map(name => [name, width])), ...(memory && memoryReadouts(memory)) },
    initialValues: seed => initialDecoderValues(configuration, seed),
    build({ parameters, rows, tokens, lengths, encoder, dropout }) {
      const ofHistory =
        encoder && memory ? askByHistory(memory, parameters, parameters.get('embedding')!, encoder) : null
      const { logits, hidden, answer } = decoderStack(configuration, parameters, tokens, {
        rows,
        addPositions: (embedded, table) => addPlaces(configuration, embedded, table, rows),
        attend: (_, heads) => attendWholeRows(configuration, lengths, heads),
        dropout,
        recalled: ofHistory?.added,
      })
      const readouts = new Map(states.map((name, block) => [name, hidden[block]!]))
      if (!memory) return { logits, readouts }
      for (const [name, tensor] of answerReadouts((ofHistory ?? answer)!, tokens.shape[0]!)) readouts.set(name, tensor)
      const inner = hidden[memoryBlock(memory, depth)]!
      return { logits, readouts, innerLogits: decoderHead(configuration, parameters, inner) }
    },
    incremental: incrementalDecoder(configuration),
  }
}

/** Parameters are inputs of the graph, under their names. */
export function decoderInputs(graph: Graph, configuration: DecoderConfiguration): Map<string, Tensor> {
  return new Map(decoderParameters(configuration).map(({ name, shape }) => [name, graph.input(name, shape)]))
}

/** Token ids (rows × positions), row after row, all of them real → logits (rows × positions, vocabulary). Causal attention only. */
export function decoderLogits(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  tokens: Tensor,
  rows: number,
): Tensor {
  return decoderStack(configuration, parameters, tokens, {
    rows,
    addPositions: (embedded, table) => addPlaces(configuration, embedded, table, rows),
    attend: (_, heads) => attendWholeRows(configuration, null, heads),
  }).logits
}
