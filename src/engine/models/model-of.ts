/**
 * The model that a checkpoint, or a message to another thread, speaks of: from its kind and its configuration.
 */
import { type BigramConfiguration, bigram } from './bigram.ts'
import { decoder } from './decoder.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { encoderDecoder } from './encoder-decoder.ts'
import type { EncoderDecoderConfiguration } from './encoder-decoder-configuration.ts'
import { type InContextRegressorConfiguration, inContextRegressor } from './in-context-regressor.ts'
import type { Model } from './model.ts'

const builders: Readonly<Record<string, (configuration: object) => Model>> = {
  decoder: configuration => decoder(configuration as DecoderConfiguration),
  'encoder-decoder': configuration => encoderDecoder(configuration as EncoderDecoderConfiguration),
  'in-context-regressor': configuration => inContextRegressor(configuration as InContextRegressorConfiguration),
  bigram: configuration => bigram(configuration as BigramConfiguration),
}

/** Throws a sentence for a kind that is not built in, and the builder's own for a configuration that is not valid. */
export function modelOf(kind: string, configuration: object): Model {
  if (!Object.hasOwn(builders, kind))
    throw new Error(
      `there is no model of kind ${JSON.stringify(kind)} built in (${Object.keys(builders).join(', ')} are); it must be given`,
    )
  return builders[kind]!(configuration)
}
