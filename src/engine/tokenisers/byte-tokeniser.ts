/**
 * Every byte of the UTF-8 text is a token: 256 ids, and the special ones from 256 on. Any text can be encoded.
 */
import { checkId, specialTokens } from './special-tokens.ts'
import type { Tokeniser } from './tokeniser.ts'

export interface ByteTokeniserOptions {
  /** Names of special tokens. Default none. */
  readonly specials?: readonly string[]
}

/** Bytes that are no UTF-8 decode to U+FFFD, as browsers do it. */
export function byteTokeniser({ specials: names = [] }: ByteTokeniserOptions = {}): Tokeniser {
  const specials = specialTokens('byteTokeniser', names, 256)
  const vocabulary = 256 + specials.size
  const encoder = new TextEncoder()
  // A byte-order mark is text as any other.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return {
    vocabulary,
    specials,
    encode(text) {
      // It would become U+FFFD, and another text come back.
      if (!text.isWellFormed())
        throw new Error('encode: the text has half of a surrogate pair, which UTF-8 cannot write')
      return Int32Array.from(encoder.encode(text))
    },
    decode(tokens) {
      let text = ''
      let bytes: number[] = []
      const flush = () => {
        text += decoder.decode(Uint8Array.from(bytes))
        bytes = []
      }
      for (let position = 0; position < tokens.length; position++) {
        const token = tokens[position]!
        checkId(token, position, vocabulary)
        if (token < 256) bytes.push(token)
        else {
          flush()
          text += names[token - 256]
        }
      }
      flush()
      return text
    },
  }
}
