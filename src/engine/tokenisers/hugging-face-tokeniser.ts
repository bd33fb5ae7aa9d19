/**
 * The tokeniser of a published model: tokenizer.json, through @huggingface/tokenizers. Beside what the package does: word-level
 * vocabularies, and a sentence where it would lose a character silently. The file is data, but its patterns run as regular expressions: one
 * made to be slow is.
 *
 * Unlike other tokenisers, special and added tokens that are spelled out in a text become those tokens, which is what chat templates stand
 * on; a text from outside can spell them too.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import type { Tokeniser } from './tokeniser.ts'
import { checkedTokenizerFile } from './tokenizer-file.ts'

export interface HuggingFaceTokeniser extends Tokeniser {
  /**
   * `template`: also with what the model expects around a text, as Llama a token for its beginning. Default false, so that pieces of a
   * text can be encoded apart.
   */
  encode(text: string, options?: { readonly template?: boolean }): Int32Array
  /** Ids without a token, of which some models have spare ones, make no text. */
  decode(tokens: ArrayLike<number>): string
}

/** Stands for what has no token, where the file names none: no vocabulary has it, so it is noticed. */
const missing = '\u0000missing'

/** `path`: of tokenizer.json; tokenizer_config.json beside it is read where there is one. Throws one sentence for files that are not valid. */
export function readHuggingFaceTokeniser(path: string): HuggingFaceTokeniser {
  try {
    return fromFiles(path)
  } catch (error) {
    throw new Error(`${path} cannot be used as a tokeniser: ${(error as Error).message}`, { cause: error })
  }
}

function fromFiles(path: string): HuggingFaceTokeniser {
  const { file, unknown, vocabulary } = checkedTokenizerFile(JSON.parse(readFileSync(path, 'utf8')))
  const configurationPath = join(dirname(path), 'tokenizer_config.json')
  const configuration = existsSync(configurationPath) ? JSON.parse(readFileSync(configurationPath, 'utf8')) : {}
  const model = { ...file.model, unk_token: unknown ?? missing }
  // The package takes word-level vocabularies' unknown token from the configuration, and tidies spaces unless it is told not to.
  const tokenizer = new Tokenizer(
    { ...file, model },
    { clean_up_tokenization_spaces: false, ...configuration, unk_token: unknown ?? missing },
  )
  const tokensOf = (text: string, template: boolean) => tokenizer.encode(text, { add_special_tokens: template }).ids
  const isLost = (id: number | undefined) => id === undefined
  return {
    vocabulary,
    specials: new Map(file.added_tokens.filter(({ special }) => special).map(({ content, id }) => [content, id])),
    encode(text, { template = false } = {}) {
      const ids = tokensOf(text, template)
      if (!ids.some(isLost)) return Int32Array.from(ids)
      const word = text.split(/\s+/).find(each => tokensOf(each, false).some(isLost))
      throw new Error(
        `encode: there is no token for a part of ${JSON.stringify(word ?? text)}, and none for what is unknown`,
      )
    },
    decode(tokens) {
      const ids = Array.from(tokens)
      for (const [position, id] of ids.entries())
        if (!(Number.isInteger(id) && id >= 0))
          throw new Error(`decode: token ${id} at position ${position} is not a whole number from 0 on`)
      const known = ids.filter(id => tokenizer.id_to_token(id) !== undefined)
      return known.length === 0 ? '' : tokenizer.decode(known)
    },
  }
}
