/**
 * The options of the encoder-decoder, and what makes them valid. Both halves have the decoder's options; the encoder
 * may differ in depth, vocabulary and length.
 */
import { type DecoderConfiguration, decoderProblems } from './decoder-configuration.ts'

/**
 * Depth, vocabulary and contextLength are those of the decoder. Cross-attention knows no positions, as in T5 (Raffel et
 * al., 2020). Where branches are scaled by depth, a block of the decoder counts three: 1/sqrt(3 × depth).
 */
export interface EncoderDecoderConfiguration extends Omit<DecoderConfiguration, 'attention' | 'attentionBlock'> {
  /** Number of blocks of the encoder. */
  readonly encoderDepth: number
  /** Number of token ids that the encoder reads. Default: the decoder's. */
  readonly encoderVocabulary?: number
  /** Longest sequence that the encoder is meant for. Default: the decoder's. */
  readonly encoderContextLength?: number
  /**
   * The encoder reads the last so many of its tokens; a memory that is asked by the history is asked with all of them.
   * Default: all.
   */
  readonly encoderWindow?: number
  /** Encoder and decoder look tokens up in one table; their vocabularies are one then. */
  readonly sharedEmbeddings: boolean
}

export function encoderDecoderProblems(configuration: EncoderDecoderConfiguration): string[] {
  const { encoderDepth, encoderVocabulary, encoderContextLength, encoderWindow } = configuration
  const { sharedEmbeddings, vocabulary } = configuration
  const problems = decoderProblems(decoderHalf(configuration))
  for (const [field, value] of Object.entries({ encoderDepth, encoderVocabulary, encoderContextLength, encoderWindow }))
    if (!(Number.isInteger(value) && value! > 0) && (value !== undefined || field === 'encoderDepth'))
      problems.push(
        `${field} is ${value}: expected a positive whole number${field === 'encoderDepth' ? '' : ', or absent'}`,
      )
  if (typeof sharedEmbeddings !== 'boolean')
    problems.push(`sharedEmbeddings is ${JSON.stringify(sharedEmbeddings)}: expected true or false`)
  if (sharedEmbeddings === true && (encoderVocabulary ?? vocabulary) !== vocabulary)
    problems.push(
      `encoderVocabulary is ${encoderVocabulary}: expected ${vocabulary}, the decoder's, for shared embeddings`,
    )
  return problems
}

/** Throws one error with all that is wrong. */
export function checkEncoderDecoder(configuration: EncoderDecoderConfiguration): void {
  const problems = encoderDecoderProblems(configuration)
  if (problems.length > 0) throw new Error(`The encoder-decoder's configuration is not valid: ${problems.join('; ')}`)
}

/** The decoder as if it stood alone. */
export function decoderHalf(configuration: EncoderDecoderConfiguration): DecoderConfiguration {
  const { encoderDepth, encoderVocabulary, encoderContextLength, encoderWindow, sharedEmbeddings, ...decoder } =
    configuration
  return { ...decoder, attention: 'causal' }
}

/** The encoder as a decoder without a head whose positions see the whole row. */
export function encoderHalf(configuration: EncoderDecoderConfiguration): DecoderConfiguration {
  const { encoderDepth, encoderVocabulary, vocabulary, contextLength } = configuration
  const { encoderContextLength = contextLength, encoderWindow = encoderContextLength } = configuration
  const { memory, ...shared } = decoderHalf(configuration)
  return {
    ...shared,
    depth: encoderDepth,
    vocabulary: encoderVocabulary ?? vocabulary,
    contextLength: Math.min(encoderWindow, encoderContextLength),
    attention: 'bidirectional',
    tiedEmbeddings: true,
    logitSoftCap: null,
  }
}
