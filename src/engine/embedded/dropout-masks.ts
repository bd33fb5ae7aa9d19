/**
 * Dropout masks that depend on a seed, a datum's place, a name and the position in the row, and on nothing else: neither on how data
 * were cut into pieces nor on padding. The generator is a counter through the finaliser of MurmurHash3 (Appleby, 2011).
 */

/** Fills one row: positions × channels, position after position; each is kept with probability 1 - rate and is 1/(1 - rate) then. */
export function fillDropoutMask(row: Float32Array, key: number, rate: number): void {
  const kept = 1 / (1 - rate)
  const limit = rate * 2 ** 32
  for (let index = 0; index < row.length; index++)
    row[index] = mixed(key ^ Math.imul(index, 0x9e3779b9)) >>> 0 < limit ? 0 : kept
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
