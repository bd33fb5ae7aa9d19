/**
 * Text, code and configuration as a list of lower-case words. Identifiers come apart at underscores and humps, a number
 * has one spelling. No stemming and no stop words: TF-IDF weighs what is everywhere by itself.
 */

// A number with its exponent that is not glued to letters or more digits (3e-4, 1_024; not 16GB, fp16 or 1.2.3), or a
// run of letters and digits.
const tokenPattern =
  /(?<![\p{L}\p{N}_.])(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_]|\.\d)|[\p{L}\p{N}]+(?:\.\p{N}+)*/gu

// A hump is a capital with two small letters behind it, or an acronym before one. Asking for that much keeps the names
// of the field whole, however they are spelled: ReLU, SwiGLU, AdamW, RoPE, OLMo.
const hump = /(?<=[\p{L}\p{N}])(?=\p{Lu}\p{Ll}{2})|(?<=\p{Ll})(?=\p{Lu}{3,}\p{Lu}\p{Ll}{2})/gu

/**
 * Words in order of appearance: `learning_rate=3e-4` gives learning, rate, 0.0003; `useRMSNorm` gives use, rms, norm.
 * Signs are left out: before a number they are as often a dash, an arrow or the mark of a diff.
 */
export function words(text: string): string[] {
  const result: string[] = []
  for (const token of tokens(text)) result.push(...wordsIn(token))
  return result
}

/** What `wordsIn` takes apart, in order of appearance. */
export function tokens(text: string): readonly string[] {
  return text.normalize('NFKC').match(tokenPattern) ?? []
}

/** The words of one token. */
export function wordsIn(token: string): string[] {
  const number = /^[\d.]/.test(token) ? Number(token.replaceAll('_', '')) : Number.NaN
  return Number.isFinite(number) ? [String(number)] : token.split(hump).map(part => part.toLowerCase())
}
