/**
 * The model that a checkpoint, or a message to another thread, speaks of: from its kind and its configuration.
 */

import { described } from '../required-types.ts'
import { type BigramConfiguration, bigram } from './bigram.ts'
import { decoder } from './decoder.ts'
import { completeDecoder, type DecoderOptions } from './decoder-configuration.ts'
import { encoderDecoder } from './encoder-decoder.ts'
import { completeEncoderDecoder, type EncoderDecoderOptions } from './encoder-decoder-configuration.ts'
import { completeRegressor, type InContextRegressorOptions, inContextRegressor } from './in-context-regressor.ts'
import type { Model } from './model.ts'

interface BuiltIn {
  readonly build: (options: object) => Model
  /** The configuration of a model with these options. */
  readonly complete: (options: object) => object
}

const builtIn: Readonly<Record<string, BuiltIn>> = {
  decoder: {
    build: options => decoder(options as DecoderOptions),
    complete: options => completeDecoder(options as DecoderOptions),
  },
  'encoder-decoder': {
    build: options => encoderDecoder(options as EncoderDecoderOptions),
    complete: options => completeEncoderDecoder(options as EncoderDecoderOptions),
  },
  'in-context-regressor': {
    build: options => inContextRegressor(options as InContextRegressorOptions),
    complete: options => completeRegressor(options as InContextRegressorOptions),
  },
  bigram: { build: options => bigram(options as BigramConfiguration), complete: options => options },
}

/**
 * Throws a sentence for a kind that is not built in, which ends in what to do `instead`, and the builder's own for a configuration that is not
 * valid.
 */
export function modelOf(kind: string, configuration: object, instead = 'it must be given'): Model {
  if (!Object.hasOwn(builtIn, kind))
    throw new Error(
      `there is no model of kind ${described(kind)} built in (${Object.keys(builtIn).join(', ')} are); ${instead}`,
    )
  return builtIn[kind]!.build(configuration)
}

/** With what a model of a kind that is built in would have for what is not said. It checks nothing. */
export function completeConfiguration(kind: string, configuration: object): object {
  return Object.hasOwn(builtIn, kind) ? builtIn[kind]!.complete(configuration) : configuration
}
