/**
 * xoshiro128**, the 32-bit generator of Blackman and Vigna ("Scrambled linear pseudorandom number generators", ACM TOMS
 * 2021; public-domain reference code on prng.di.unimi.it): period 2^128 - 1. Only the generator: seeding and
 * distributions are in random.ts. Not for secrets.
 */

export type XoshiroState = readonly [number, number, number, number]

/** Returns a function that gives the next unsigned 32-bit integer. The state is four 32-bit words, not all zero. */
export function xoshiro128(state: XoshiroState): () => number {
  let [a, b, c, d] = state.map(word => word | 0) as [number, number, number, number]
  if ((a | b | c | d) === 0)
    throw new Error('xoshiro128: the state is all zeros, which only repeats itself; give another')
  return () => {
    const times5 = Math.imul(b, 5)
    const result = Math.imul((times5 << 7) | (times5 >>> 25), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return result
  }
}
