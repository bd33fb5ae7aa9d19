/**
 * Text to tokens and back. A tokeniser's ids run from 0 to below `vocabulary`. Special tokens (an end, a mask) stand for no text: no
 * text becomes one (but see hugging-face-tokeniser.ts), and in decoded text they come out as their names.
 */
export interface Tokeniser {
  /** Number of token ids. */
  readonly vocabulary: number
  /** Ids of the special tokens, by name. */
  readonly specials: ReadonlyMap<string, number>
  /** Throws a sentence for a text that has no tokens for something in it: nothing is lost silently. */
  encode(text: string): Int32Array
  /** Any tokens make a text. Throws a sentence for a number that is not an id. */
  decode(tokens: ArrayLike<number>): string
}
