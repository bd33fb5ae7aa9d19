/**
 * The decoder transformer as a model. Its options are in decoder-configuration.ts, its parameters are made in
 * decoder-parameters.ts, its blocks are in decoder-stack.ts.
 */
import { addPlaces, attendWholeRows } from './decoder-attention.ts'
import { checkDecoder, completeDecoder, type DecoderOptions } from './decoder-configuration.ts'
import { decoderOutputs, decoderReadouts } from './decoder-outputs.ts'
import { decoderParameters, initialValues } from './decoder-parameters.ts'
import { decoderStack } from './decoder-stack.ts'
import { incrementalDecoder } from './decoder-step.ts'
import { askByHistory } from './memory-recall.ts'
import type { Model } from './model.ts'

/** Throws one error with all that is wrong. */
export function decoder(options: DecoderOptions): Model {
  checkDecoder(options)
  const configuration = completeDecoder(options)
  const { vocabulary, contextLength, memory, attention } = configuration
  const parameters = decoderParameters(configuration)
  return {
    kind: 'decoder',
    configuration,
    vocabulary,
    contextLength,
    inputs: { tokens: true, encoderTokens: memory?.query === 'history', features: 0 },
    seesAhead: attention !== 'causal',
    parameters,
    readouts: decoderReadouts(configuration),
    initialValues: seed => initialValues(parameters, configuration.initialisationScale, seed),
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
