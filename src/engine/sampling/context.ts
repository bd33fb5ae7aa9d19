/**
 * The context of a row that was computed: what a prefix is behind its interface. Everything is kept but the last token: it is read when the row goes on.
 */
import { createHash } from 'node:crypto'
import type { ModelInput } from '../datum.ts'
import type { Prefix } from '../sampling.ts'
import type { CacheSegment } from './cache-rows.ts'

export class Context implements Prefix {
  readonly length: number
  readonly tokens: Int32Array
  /** Of an encoder-decoder; else empty. */
  readonly encoderTokens: Int32Array
  /** Of all tokens but the last; null where there are none, or the model keeps nothing. */
  readonly segment: CacheSegment | null
  /** Entries that do not grow, of so many encoder positions. */
  readonly fixed: ReadonlyMap<string, Float32Array>
  readonly encoderPositions: number
  /** The sampler that it belongs to. */
  readonly owner: object

  constructor(properties: Omit<Context, 'length' | 'input'>) {
    this.length = properties.tokens.length
    this.tokens = properties.tokens
    this.encoderTokens = properties.encoderTokens
    this.segment = properties.segment
    this.fixed = properties.fixed
    this.encoderPositions = properties.encoderPositions
    this.owner = properties.owner
  }

  /** As an input of the model. */
  get input(): ModelInput {
    const { tokens, encoderTokens } = this
    return encoderTokens.length > 0 ? { tokens, encoderTokens } : { tokens }
  }
}

/** Equal for equal tokens. */
export function contentKey({ tokens, encoderTokens = new Int32Array(0) }: ModelInput): string {
  const hash = createHash('sha256').update(`${tokens.length}/`)
  for (const array of [tokens, encoderTokens]) hash.update(Int32Array.from(array))
  return hash.digest('base64')
}
