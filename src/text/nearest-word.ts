/**
 * The word that was probably meant: the one that is fewest edits away from what was written, when they are few enough to
 * be a slip. Capitals do not count.
 */

export function nearestWord(written: string, words: readonly string[]): string | null {
  let nearest: string | null = null
  let least = Math.max(2, written.length / 3)
  for (const word of words) {
    const distance = editDistance(written.toLowerCase(), word.toLowerCase())
    if (distance > least || (nearest !== null && distance === least)) continue
    least = distance
    nearest = word
  }
  return nearest
}

/** Letters that are put in, taken out or exchanged (Levenshtein, 1966). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const exchanged = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(exchanged, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
