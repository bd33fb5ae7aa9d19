/**
 * The encoder-decoder transformer: an encoder reads a text of its own whole, and a causal decoder takes from it in each block by
 * cross-attention. Blocks, norms and positions are those of the decoder.
 */

import { attention } from '../algebra/attention.ts'
import { projectKeysAndValues } from './attention-branch.ts'
import { addPlaces, attendWholeRows } from './decoder-attention.ts'
import { decoderStack } from './decoder-stack.ts'
import {
  checkEncoderDecoder,
  decoderHalf,
  type EncoderDecoderConfiguration,
  encoderHalf,
} from './encoder-decoder-configuration.ts'
import { encodedRows } from './encoder-decoder-encode.ts'
import { encoderDecoderParameters, initialEncoderDecoderValues } from './encoder-decoder-parameters.ts'
import { incrementalEncoderDecoder } from './encoder-decoder-step.ts'
import type { Model } from './model.ts'

/** Throws one error with all that is wrong. Read-outs are the decoder's hidden states, as those of decoder.ts. */
export function encoderDecoder(configuration: EncoderDecoderConfiguration): Model {
  checkEncoderDecoder(configuration)
  const { vocabulary, contextLength, depth, width } = configuration
  const decoder = decoderHalf(configuration)
  const encoder = encoderHalf(configuration)
  const states = Array.from({ length: depth + 1 }, (_, block) => `hidden.${block}`)
  return {
    kind: 'encoder-decoder',
    configuration,
    vocabulary,
    contextLength,
    inputs: {
      tokens: true,
      encoderTokens: true,
      encoderVocabulary: encoder.vocabulary,
      encoderContextLength: encoder.contextLength,
      features: 0,
    },
    parameters: encoderDecoderParameters(configuration),
    readouts: Object.fromEntries(states.map(name => [name, width])),
    initialValues: seed => initialEncoderDecoderValues(configuration, seed),
    build(inputs) {
      const { parameters, rows, tokens, lengths, dropout } = inputs
      const encoded = encodedRows(configuration, inputs)
      const { logits, hidden } = decoderStack(decoder, parameters, tokens, {
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
      })
      return { logits, readouts: new Map(states.map((name, block) => [name, hidden[block]!])) }
    },
    incremental: incrementalEncoderDecoder(configuration),
  }
}
