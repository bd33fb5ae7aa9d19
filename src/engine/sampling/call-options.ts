/**
 * Whether what every call of a sampler may be given besides its requests makes sense.
 */
import { described, type FieldsOf, requireFields } from '../required-types.ts'
import type { CallOptions } from '../sampling.ts'

const fields: FieldsOf<CallOptions> = { signal: true }

export function checkedCallOptions(verb: string, options: CallOptions): CallOptions {
  requireFields(`${verb}: options`, options, fields)
  const { signal } = options
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function')
    throw new Error(`${verb}: options.signal is ${described(signal)}: expected an AbortSignal`)
  return options
}
