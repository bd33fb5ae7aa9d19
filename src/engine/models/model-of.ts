/**
 * The model that a checkpoint, or a message to another thread, speaks of: from its kind and its configuration.
 */
import { decoder } from './decoder.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import type { Model } from './model.ts'

const builders: Readonly<Record<string, (configuration: object) => Model>> = {
  decoder: configuration => decoder(configuration as DecoderConfiguration),
}

/** Throws a sentence for a kind that is not built in, and the builder's own for a configuration that is not valid. */
export function modelOf(kind: string, configuration: object): Model {
  if (!Object.hasOwn(builders, kind))
    throw new Error(
      `there is no model of kind ${JSON.stringify(kind)} built in (${Object.keys(builders).join(', ')} are); it must be given`,
    )
  return builders[kind]!(configuration)
}
