/**
 * The encoder-decoder transformer: an encoder reads a text of its own whole, and a causal decoder takes from it in each
 * block by cross-attention. Blocks, norms and positions are those of the decoder.
 */

import { attention } from '../algebra/attention.ts'
import { projectKeysAndValues } from './attention-branch.ts'
import { addPlaces, attendWholeRows } from './decoder-attention.ts'
import { decoderOutputs, decoderReadouts } from './decoder-outputs.ts'
import { initialValues } from './decoder-parameters.ts'
import { decoderStack } from './decoder-stack.ts'
import {
  checkEncoderDecoder,
  completeEncoderDecoder,
  decoderHalf,
  type EncoderDecoderOptions,
} from './encoder-decoder-configuration.ts'
import { answerOfHistory, encodedRows } from './encoder-decoder-encode.ts'
import { encoderDecoderParameters } from './encoder-decoder-parameters.ts'
import { incrementalEncoderDecoder } from './encoder-decoder-step.ts'
import type { Model } from './model.ts'

/** Throws one error with all that is wrong. Read-outs and the inner state are the decoder's. */
export function encoderDecoder(options: EncoderDecoderOptions): Model {
  checkEncoderDecoder(options)
  const configuration = completeEncoderDecoder(options)
  const { vocabulary, contextLength, encoderVocabulary, encoderContextLength } = configuration
  const decoder = decoderHalf(configuration)
  const parameters = encoderDecoderParameters(configuration)
  return {
    kind: 'encoder-decoder',
    configuration,
    vocabulary,
    contextLength,
    inputs: {
      tokens: true,
      encoderTokens: true,
      encoderVocabulary,
      encoderContextLength,
      features: 0,
    },
    parameters,
    readouts: decoderReadouts(decoder),
    initialValues: seed => initialValues(parameters, configuration.initialisationScale, seed),
    build(inputs) {
      const { parameters, rows, tokens, lengths, dropout } = inputs
      const encoded = encodedRows(configuration, inputs)
      const ofHistory = answerOfHistory(configuration, inputs)
      const result = decoderStack(decoder, parameters, tokens, {
        rows,
        addPositions: (embedded, table) => addPlaces(decoder, embedded, table, rows),
        attend: (_, heads) => attendWholeRows(decoder, lengths, heads),
        attendEncoder: (block, queries) => {
          const { keys, values } = projectKeysAndValues(
            decoder,
            parameters,
            `blocks.${block}.cross`,
            encoded.states,
            rows,
          )
          return attention(queries, keys, values, { mask: encoded.mask, reference: 'first' })
        },
        dropout,
        recalled: ofHistory?.added,
      })
      return decoderOutputs(decoder, parameters, result, ofHistory)
    },
    incremental: incrementalEncoderDecoder(configuration),
  }
}
