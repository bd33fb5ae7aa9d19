/**
 * The options of the embedded engine, in this thread or in one of its own, and what makes them valid.
 */
import { described, type FieldsOf, requireFields } from '../required-types.ts'

export interface EmbeddedEngineOptions {
  /** Threads of the computation, default 1. Results do not depend on it. */
  readonly threads?: number
  /** Most positions that are computed at once, padding included; larger batches are split. More need more memory. Default 2048. */
  readonly tokensAtOnce?: number
}

const fields: FieldsOf<EmbeddedEngineOptions> = { threads: true, tokensAtOnce: true }

/** With defaults for what is not given. Throws a sentence for what is not valid; `maker`: the function that was given them. */
export function completeEngineOptions(maker: string, options: EmbeddedEngineOptions): Required<EmbeddedEngineOptions> {
  requireFields(`${maker}: options`, options, fields)
  const { threads = 1, tokensAtOnce = 2048 } = options
  for (const [field, value] of Object.entries({ threads, tokensAtOnce }))
    if (!(Number.isInteger(value) && value > 0))
      throw new Error(`${maker}: ${field} is ${described(value)}: expected a positive whole number`)
  return { threads, tokensAtOnce }
}
