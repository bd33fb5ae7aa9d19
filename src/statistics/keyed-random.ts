/**
 * Random numbers that are a function of where they are used: of a seed, a key and two counters, whatever was drawn before or in which
 * order. The generator is Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011); the
 * seed and the key go through SHA-256. The same on every machine. Not for secrets.
 */
import { createHash } from 'node:crypto'

/** A uniform number in (0, 1), never 0 or 1, for each pair of counters: whole numbers from 0 to 2^32 - 1. */
export type KeyedUniform = (first: number, second: number) => number

/** The number 7 and the text '7' are different keys, and so are different seeds. */
export function keyedUniform(seed: number, key: string | number): KeyedUniform {
  if (!Number.isFinite(seed)) throw new Error(`keyedUniform: the seed is ${seed}; give a finite number`)
  const digest = createHash('sha256')
    .update(`${seed}/${typeof key}/${key}`)
    .digest()
  const keyLow = digest.readInt32LE(0)
  const keyHigh = digest.readInt32LE(4)
  return (first, second) => {
    const [low, high] = threefry(keyLow, keyHigh, first, second)
    // 52 bits and a half: the middle of its interval.
    return ((low >>> 0) * 2 ** 20 + (high >>> 12) + 0.5) / 2 ** 52
  }
}

const rotations = [13, 15, 26, 6, 17, 29, 16, 24]

/** Two 32-bit words from a key and a counter of two words each. */
export function threefry(keyLow: number, keyHigh: number, low: number, high: number): [number, number] {
  const keys = [keyLow, keyHigh, 0x1bd11bda ^ keyLow ^ keyHigh]
  let x = (low + keyLow) | 0
  let y = (high + keyHigh) | 0
  for (let round = 0; round < 20; round++) {
    x = (x + y) | 0
    const turn = rotations[round % 8]!
    y = ((y << turn) | (y >>> (32 - turn))) ^ x
    if (round % 4 === 3) {
      const injection = (round + 1) / 4
      x = (x + keys[injection % 3]!) | 0
      y = (y + keys[(injection + 1) % 3]! + injection) | 0
    }
  }
  return [x, y]
}
