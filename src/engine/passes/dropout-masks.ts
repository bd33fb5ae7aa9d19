/**
 * Dropout masks that depend on a seed, a datum's place, a name and the position in the row, and on nothing else: neither on how data
 * were cut into pieces nor on padding. Random bits come from a counter through the finaliser of MurmurHash3 (Appleby, 2011).
 */

/** Fills one row: positions × channels, position after position; each is kept with probability 1 - rate and is 1/(1 - rate) then. */
export function fillDropoutMask(row: Float32Array, key: number, rate: number): void {
  const kept = 1 / (1 - rate)
  const threshold = Math.round(rate * 2 ** 32) >>> 0
  for (let start = 0, word = 0; start < row.length; start += 32, word++) {
    const dropped = droppedBits(key, word, threshold)
    const end = Math.min(32, row.length - start)
    for (let bit = 0; bit < end; bit++) row[start + bit] = (dropped >>> bit) & 1 ? 0 : kept
  }
}

/**
 * 32 draws at once, each 1 with probability threshold / 2³²: every bit of the word compares a number of its own with the threshold, digit by
 * digit from the highest, until all are decided; about six digits are enough.
 */
function droppedBits(key: number, word: number, threshold: number): number {
  let dropped = 0
  let undecided = -1
  for (let digit = 31; digit >= 0 && undecided !== 0; digit--) {
    const random = mixed(key ^ Math.imul(32 * word + digit, 0x9e3779b9))
    if ((threshold >>> digit) & 1) {
      dropped |= undecided & ~random
      undecided &= random
    } else undecided &= ~random
  }
  return dropped
}

/** One number for a seed, a place and a name. */
export function maskKey(seed: number, place: number, name: string): number {
  let key = mixed(mixed(seed | 0) ^ mixed(Math.floor(seed / 2 ** 32) + 0x632be5ab)) + Math.imul(place, 0x85ebca6b)
  for (let index = 0; index < name.length; index++) key = mixed(key ^ Math.imul(name.charCodeAt(index), 0xc2b2ae35))
  return mixed(key)
}

function mixed(value: number): number {
  let word = value | 0
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
  return word ^ (word >>> 16)
}
