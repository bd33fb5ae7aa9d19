/**
 * Every character (code point) is a token, from a closed set that a text gives.
 */
import { checkId, specialTokens, unknownToken } from './special-tokens.ts'
import type { Tokeniser } from './tokeniser.ts'

export interface CharacterTokeniserOptions {
  /** Names of special tokens; their ids follow those of the characters. Default none. */
  readonly specials?: readonly string[]
  /** The special token that stands for characters that the text did not have. Default: they are refused. */
  readonly unknown?: string
}

/** The characters of the text get ids in the order of their code points: any text with the same ones gives the same tokeniser. */
export function characterTokeniser(
  text: string,
  { specials: names = [], unknown: unknownName }: CharacterTokeniserOptions = {},
): Tokeniser {
  const characters = [...new Set(text)].sort((a, b) => a.codePointAt(0)! - b.codePointAt(0)!)
  const specials = specialTokens('characterTokeniser', names, characters.length)
  const unknown = unknownToken('characterTokeniser', unknownName, specials)
  const vocabulary = characters.length + specials.size
  const ids = new Map(characters.map((character, id) => [character, id]))
  const pieces = [...characters, ...names]
  return {
    vocabulary,
    specials,
    encode(given) {
      const tokens: number[] = []
      for (const character of given) {
        const id = ids.get(character) ?? unknown
        if (id === null)
          throw new Error(
            `encode: the character ${JSON.stringify(character)} at position ${tokens.length} is not in the vocabulary`,
          )
        tokens.push(id)
      }
      return Int32Array.from(tokens)
    },
    decode(tokens) {
      return Array.from(tokens, (token, position) => {
        checkId(token, position, vocabulary)
        return pieces[token]
      }).join('')
    },
  }
}
