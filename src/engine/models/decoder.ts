/**
 * The decoder transformer as a model. Its options are those of DecoderConfiguration, its parameters are made in
 * decoder-parameters.ts, its blocks are in decoder-stack.ts.
 */
import type { Graph, Tensor } from '../graph/graph.ts'
import { addPlaces, attendWholeRows } from './decoder-attention.ts'
import { checkDecoder, type DecoderConfiguration } from './decoder-configuration.ts'
import { decoderOutputs, decoderReadouts } from './decoder-outputs.ts'
import { decoderParameters, initialDecoderValues } from './decoder-parameters.ts'
import { decoderStack } from './decoder-stack.ts'
import { incrementalDecoder } from './decoder-step.ts'
import { askByHistory } from './memory-recall.ts'
import type { Model } from './model.ts'

/** Throws one error with all that is wrong. */
export function decoder(configuration: DecoderConfiguration): Model {
  checkDecoder(configuration)
  const { vocabulary, contextLength, memory } = configuration
  return {
    kind: 'decoder',
    configuration,
    vocabulary,
    contextLength,
    inputs: { tokens: true, encoderTokens: memory?.query === 'history', features: 0 },
    parameters: decoderParameters(configuration),
    readouts: decoderReadouts(configuration),
    initialValues: seed => initialDecoderValues(configuration, seed),
    build({ parameters, rows, tokens, lengths, encoder, dropout }) {
      const ofHistory =
        memory?.query === 'history' ? askByHistory(memory, parameters, parameters.get('embedding')!, encoder!) : null
      const result = decoderStack(configuration, parameters, tokens, {
        rows,
        addPositions: (embedded, table) => addPlaces(configuration, embedded, table, rows),
        attend: (_, heads) => attendWholeRows(configuration, lengths, heads),
        dropout,
        recalled: ofHistory?.added,
      })
      return decoderOutputs(configuration, parameters, result, ofHistory)
    },
    incremental: incrementalDecoder(configuration),
  }
}

/** Parameters are inputs of the graph, under their names. */
export function decoderInputs(graph: Graph, configuration: DecoderConfiguration): Map<string, Tensor> {
  return new Map(decoderParameters(configuration).map(({ name, shape }) => [name, graph.input(name, shape)]))
}
