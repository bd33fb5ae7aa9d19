/**
 * Seeded random numbers that are the same on every machine and JavaScript engine. The generator is xoshiro128** and the
 * seed goes through SHA-256, so that neighbouring seeds have nothing in common. Every value is made of integer
 * operations and the correctly rounded ones (+, -, *, /), never of Math.log or Math.cos, whose last bits the language
 * leaves to the engine. Not for secrets.
 */
import { createHash } from 'node:crypto'
import { xoshiro128 } from './xoshiro.ts'

export interface Random {
  /** A multiple of 2^-53 in [0, 1). */
  uniform(): number
  /** An integer in [0, n), each equally likely; n from 1 to 2^32. */
  integer(n: number): number
  /** Standard normal. */
  normal(): number
  /** A new array in uniformly random order. */
  shuffle<T>(values: readonly T[]): T[]
  /** k different elements in random order, each subset and order equally likely; k at most the length. */
  sample<T>(values: readonly T[], k: number): T[]
  /** A stream of its own: it depends on the seed and the labels on the way, not on what was drawn before. */
  fork(label: number | string): Random
}

const words = 2 ** 32

/** The number 7 and the text '7' are the same seed. */
export function seededRandom(seed: number | string): Random {
  if (typeof seed === 'number' && !Number.isFinite(seed)) {
    throw new Error(`seededRandom: the seed is ${seed}; give a finite number or a text`)
  }
  return stream(digest(String(seed)))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function stream(key: string): Random {
  const word = (index: number) => Number.parseInt(key.slice(8 * index, 8 * index + 8), 16)
  const next = xoshiro128([word(0), word(1), word(2), word(3)])

  const uniform = () => {
    const high = next() >>> 5
    return (high * 2 ** 26 + (next() >>> 6)) / 2 ** 53
  }

  const integer = (n: number) => {
    if (!Number.isInteger(n) || n < 1 || n > words) {
      throw new Error(`integer: n is ${n}; it must be a whole number from 1 to 2^32`)
    }
    // Words beyond the last full multiple of n would favour the small remainders.
    const limit = words - (words % n)
    let drawn = next()
    while (drawn >= limit) drawn = next()
    return drawn % n
  }

  const sample = <T>(values: readonly T[], k: number): T[] => {
    if (!Number.isInteger(k) || k < 0 || k > values.length) {
      throw new Error(`sample: k is ${k}; it must be a whole number from 0 to the ${values.length} values`)
    }
    const drawn = values.slice()
    for (let i = 0; i < k; i++) {
      const j = i + integer(drawn.length - i)
      const swapped = drawn[i] as T
      drawn[i] = drawn[j] as T
      drawn[j] = swapped
    }
    drawn.length = k
    return drawn
  }

  return {
    uniform,
    integer,
    normal: () => normalFrom(uniform),
    shuffle: values => sample(values, values.length),
    sample,
    fork: label => stream(digest(`${key}/${label}`)),
  }
}

/**
 * Ratio of uniforms with the quadratic bounds of Leva ("A fast normal random number generator", ACM TOMS 18, 1992): the
 * value is a quotient of uniforms, and about one draw in a hundred needs a logarithm to decide whether it is kept.
 */
function normalFrom(uniform: () => number): number {
  for (;;) {
    const u = 1 - uniform()
    const v = 1.7156 * (uniform() - 0.5)
    const x = u - 0.449871
    const y = Math.abs(v) + 0.386595
    const q = x * x + y * (0.196 * y - 0.25472 * x)
    if (q < 0.27597 || (q <= 0.27846 && v * v <= -4 * u * u * reproducibleLog(u))) return v / u
  }
}

/** Natural logarithm of a number in (0, 1] by arithmetic alone: 2 artanh((m - 1) / (m + 1)) after scaling by powers of two. */
function reproducibleLog(value: number): number {
  let mantissa = value
  let exponent = 0
  while (mantissa < Math.SQRT1_2) {
    mantissa *= 2
    exponent -= 1
  }
  const s = (mantissa - 1) / (mantissa + 1)
  // |s| < 0.18, so the terms fall by 30 each: twelve reach the last bit.
  let series = 0
  for (let power = 23; power >= 1; power -= 2) series = series * s * s + 1 / power
  return exponent * Math.LN2 + 2 * s * series
}
