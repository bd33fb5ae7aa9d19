/**
 * Every word of a closed vocabulary is a token; between words stands a separator, which is none.
 */
import { checkId, specialTokens, unknownToken } from './special-tokens.ts'
import type { Tokeniser } from './tokeniser.ts'

export interface WordTokeniserOptions {
  /** What stands between two words, exactly once. Default one space. */
  readonly separator?: string
  /** Names of special tokens; their ids follow those of the words. Default none. */
  readonly specials?: readonly string[]
  /** The special token that stands for other words. Default: they are refused. */
  readonly unknown?: string
}

/** Words get ids in the order given. The empty text has no tokens. */
export function wordTokeniser(
  words: readonly string[],
  { separator = ' ', specials: names = [], unknown: unknownName }: WordTokeniserOptions = {},
): Tokeniser {
  if (separator === '') throw new Error('wordTokeniser: the separator is empty')
  const ids = new Map<string, number>()
  for (const word of words) {
    if (word === '' || word.includes(separator))
      throw new Error(
        `wordTokeniser: the word ${JSON.stringify(word)} is empty or contains the separator ${JSON.stringify(separator)}`,
      )
    if (ids.has(word)) throw new Error(`wordTokeniser: the word ${JSON.stringify(word)} comes twice`)
    ids.set(word, ids.size)
  }
  const specials = specialTokens('wordTokeniser', names, ids.size)
  const unknown = unknownToken('wordTokeniser', unknownName, specials)
  const vocabulary = ids.size + specials.size
  const pieces = [...words, ...names]
  return {
    vocabulary,
    specials,
    encode(text) {
      if (text === '') return new Int32Array(0)
      return Int32Array.from(text.split(separator), (word, position) => {
        const id = ids.get(word) ?? unknown
        if (id === null)
          throw new Error(`encode: the word ${JSON.stringify(word)} at position ${position} is not in the vocabulary`)
        return id
      })
    },
    decode(tokens) {
      return Array.from(tokens, (token, position) => {
        checkId(token, position, vocabulary)
        return pieces[token]
      }).join(separator)
    },
  }
}
