/**
 * All pairs of multisets whose Dice coefficient reaches a threshold, without comparing each with each: the prefix filter
 * of Chaudhuri, Ganti and Kaushik (ICDE 2006), as in Bayardo, Ma and Srikant's AllPairs (WWW 2007). Exact.
 */
import { linesSimilarity } from '../text/similarity.ts'

/**
 * Pairs of indices, the larger first. An empty multiset is like no other.
 *
 * Two multisets with Dice >= t have at least t / (2 - t) of the larger one's elements in common. So when all elements are
 * put in one order, rare ones first, they share one among the first |A| - ceil(t / (2 - t) |A|) + 1 elements of each.
 */
export function* alikePairs(
  multisets: readonly ReadonlyMap<string, number>[],
  threshold: number,
): Generator<readonly [number, number]> {
  const frequency = new Map<string, number>()
  for (const multiset of multisets) {
    for (const element of multiset.keys()) frequency.set(element, (frequency.get(element) ?? 0) + 1)
  }
  const share = threshold / (2 - threshold)
  const holders = new Map<string, number[]>()
  for (const [index, multiset] of multisets.entries()) {
    const elements = [...multiset].sort(([a], [b]) => frequency.get(a)! - frequency.get(b)! || (a < b ? -1 : 1))
    const size = elements.reduce((sum, [, count]) => sum + count, 0)
    // Slightly less than the bound, so that rounding never loses a pair that is exactly at the threshold.
    let left = size - Math.ceil(share * size - 1e-9) + 1
    const compared = new Set<number>()
    for (const [element, count] of elements) {
      if (left <= 0) break
      left -= count
      const others = holders.get(element)
      if (!others) {
        holders.set(element, [index])
        continue
      }
      for (const other of others) {
        if (compared.has(other)) continue
        compared.add(other)
        if (linesSimilarity(multiset, multisets[other]!) >= threshold) yield [index, other]
      }
      others.push(index)
    }
  }
}
