/**
 * Whether a row of a log measures a reference, by the word that logs use for it.
 */

/** The word says what something is compared with, not what it is: `+3% over baseline`. */
const comparison =
  /\b(vs\.?|versus|over|than|above|below|beats?|from|to|of|near|like|under|against|the|our)\s+(the\s+)?$/i

/** `baseline` as the commit, in the tag, or among the first words of the description, unless it is only compared with. */
export function saysBaseline(row: { commit: string | null; tag: string | null; description: string | null }): boolean {
  if (row.commit !== null && /^baseline/i.test(row.commit)) return true
  if (row.tag !== null && /(^|[_\W])baseline$/i.test(row.tag)) return true
  const words = (row.description ?? '').split(/\s+/).slice(0, 6).join(' ')
  const found = /\bbaseline\b/i.exec(words)
  return (
    found !== null && !comparison.test(words.slice(0, found.index)) && !/[\d)]\s*$/.test(words.slice(0, found.index))
  )
}
