/**
 * Numbers as programs print them, with the words that Python, JavaScript and C have for what is not finite.
 */

/** The number; NaN or an infinity for their words; null for anything else, such as `N/A` or nothing. */
export function numberIn(text: string): number | null {
  const word = text.trim()
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word)) return Number(word)
  const special = /^([+-]?)(nan|inf|infinity)$/i.exec(word)
  if (!special) return null
  if (special[2]!.toLowerCase() === 'nan') return Number.NaN
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}
