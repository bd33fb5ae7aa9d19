/**
 * The options of the encoder-decoder, and what makes them valid. Both halves have the decoder's options; the encoder
 * may differ in depth, vocabulary and length.
 */
import { described, type FieldsOf } from '../required-types.ts'
import {
  completeDecoder,
  type DecoderConfiguration,
  type DecoderOptions,
  decoderFields,
  decoderProblems,
} from './decoder-configuration.ts'

/**
 * Depth, vocabulary and contextLength are those of the decoder. Cross-attention knows no positions, as in T5 (Raffel et
 * al., 2020). Where branches are scaled by depth, a block of the decoder counts three: 1/sqrt(3 × depth).
 */
export interface EncoderDecoderConfiguration extends Omit<DecoderConfiguration, 'attention' | 'attentionBlock'> {
  /** Number of blocks of the encoder. */
  readonly encoderDepth: number
  /** Number of token ids that the encoder reads. Default: the decoder's. */
  readonly encoderVocabulary: number
  /** Longest sequence that the encoder is meant for. Default: the decoder's. */
  readonly encoderContextLength: number
  /**
   * The encoder reads the last so many of its tokens; a memory that is asked by the history is asked with all of them.
   * Default: all.
   */
  readonly encoderWindow?: number
  /** Encoder and decoder look tokens up in one table; their vocabularies are one then. Default false. */
  readonly sharedEmbeddings: boolean
}

type EncoderFields = Omit<EncoderDecoderConfiguration, keyof DecoderConfiguration>
export type EncoderDecoderOptions = Omit<DecoderOptions, 'attention' | 'attentionBlock'> &
  Pick<EncoderFields, 'encoderDepth'> &
  Partial<EncoderFields>

const { attention: _attention, attentionBlock: _attentionBlock, ...ofBothHalves } = decoderFields
const fields: FieldsOf<EncoderDecoderConfiguration> = {
  ...ofBothHalves,
  encoderDepth: true,
  encoderVocabulary: true,
  encoderContextLength: true,
  encoderWindow: true,
  sharedEmbeddings: true,
}

/** What is not given, or undefined, is the default. It checks nothing. */
export function completeEncoderDecoder(options: EncoderDecoderOptions): EncoderDecoderConfiguration {
  const { encoderVocabulary = options.vocabulary, encoderContextLength = options.contextLength } = options
  const { attention: _, ...configuration } = completeDecoder(options)
  return { sharedEmbeddings: false, ...configuration, encoderVocabulary, encoderContextLength }
}

export function encoderDecoderProblems(options: EncoderDecoderOptions): string[] {
  const { encoderDepth, encoderVocabulary, encoderContextLength, encoderWindow } = options
  const { sharedEmbeddings = false, vocabulary } = options
  const problems = decoderProblems(options, fields)
  for (const [field, value] of Object.entries({ encoderDepth, encoderVocabulary, encoderContextLength, encoderWindow }))
    if (!(Number.isInteger(value) && value! > 0) && (value !== undefined || field === 'encoderDepth'))
      problems.push(
        `${field} is ${described(value)}: expected a positive whole number${field === 'encoderDepth' ? '' : ', or absent'}`,
      )
  if (typeof sharedEmbeddings !== 'boolean')
    problems.push(`sharedEmbeddings is ${described(sharedEmbeddings)}: expected true or false`)
  if (sharedEmbeddings && (encoderVocabulary ?? vocabulary) !== vocabulary)
    problems.push(
      `encoderVocabulary is ${encoderVocabulary}: expected ${vocabulary}, the decoder's, for shared embeddings`,
    )
  return problems
}

/** Throws one error with all that is wrong. */
export function checkEncoderDecoder(options: EncoderDecoderOptions): void {
  const problems = encoderDecoderProblems(options)
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
  const { encoderDepth, encoderVocabulary, encoderContextLength, encoderWindow = encoderContextLength } = configuration
  const { memory, ...shared } = decoderHalf(configuration)
  return {
    ...shared,
    depth: encoderDepth,
    vocabulary: encoderVocabulary,
    contextLength: Math.min(encoderWindow, encoderContextLength),
    attention: 'bidirectional',
    tiedEmbeddings: true,
    logitSoftCap: null,
  }
}
