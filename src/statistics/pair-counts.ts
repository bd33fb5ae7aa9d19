/**
 * How many pairs of items two lists order alike, counted by sorting (Knight 1966): time grows little faster than the number of items,
 * and the counts are exact.
 */

export interface PairCounts {
  readonly concordant: number
  readonly discordant: number
  /** Different in the first list. */
  readonly untiedFirst: number
  readonly untiedSecond: number
  /** Different in the first list and equal in the second. */
  readonly tiedInSecondOnly: number
}

/** Of all pairs of items. `what` is the function that asks, for an error about a value that has no order. */
export function pairCounts(what: string, first: ArrayLike<number>, second: ArrayLike<number>): PairCounts {
  const count = first.length
  if (count !== second.length) {
    throw new Error(`${what}: the two lists must be of equal length, got ${count} and ${second.length}`)
  }
  const byBoth = Array.from({ length: count }, (_, index) => index)
  for (const index of byBoth) {
    if (!Number.isNaN(first[index]) && !Number.isNaN(second[index])) continue
    throw new Error(`${what}: item ${index} is NaN, which has no order`)
  }
  byBoth.sort((i, j) => order(first[i]!, first[j]!) || order(second[i]!, second[j]!))
  const pairs = pairsAmong(count)
  const tiedFirst = tiedPairs(count, place => first[byBoth[place]!] === first[byBoth[place - 1]!])
  const tiedBoth = tiedPairs(
    count,
    place =>
      first[byBoth[place]!] === first[byBoth[place - 1]!] && second[byBoth[place]!] === second[byBoth[place - 1]!],
  )
  const values = Float64Array.from(byBoth, index => second[index]!)
  const discordant = sortCountingInversions(values)
  const tiedSecond = tiedPairs(count, place => values[place] === values[place - 1])
  return {
    concordant: pairs - tiedFirst - tiedSecond + tiedBoth - discordant,
    discordant,
    untiedFirst: pairs - tiedFirst,
    untiedSecond: pairs - tiedSecond,
    tiedInSecondOnly: tiedSecond - tiedBoth,
  }
}

/** By comparison, not by subtraction: infinities have an order too. */
function order(one: number, other: number): number {
  return one > other ? 1 : one < other ? -1 : 0
}

function pairsAmong(count: number): number {
  return count < 2 ? 0 : (count * (count - 1)) / 2
}

/** Pairs within runs of equal items; `isTied` says whether the item at a place equals the one before. */
function tiedPairs(count: number, isTied: (place: number) => boolean): number {
  let pairs = 0
  for (let place = 1, run = 1; place <= count; place++) {
    if (place < count && isTied(place)) {
      run++
      continue
    }
    pairs += pairsAmong(run)
    run = 1
  }
  return pairs
}

/** Sorts by merging, and counts the pairs that stood the wrong way round; equal ones did not. */
function sortCountingInversions(values: Float64Array): number {
  const merged = new Float64Array(values.length)
  let inversions = 0
  for (let width = 1; width < values.length; width *= 2) {
    for (let start = 0; start < values.length; start += 2 * width) {
      const middle = Math.min(start + width, values.length)
      const end = Math.min(start + 2 * width, values.length)
      let left = start
      let right = middle
      for (let place = start; place < end; place++) {
        if (right === end || (left < middle && values[left]! <= values[right]!)) merged[place] = values[left++]!
        else {
          merged[place] = values[right++]!
          inversions += middle - left
        }
      }
    }
    values.set(merged)
  }
  return inversions
}
