/**
 * The generator against the published test vectors, and that keys and counters give numbers that look uniform and unrelated.
 */
import { expect, it } from 'vitest'
import { keyedUniform, threefry } from './keyed-random.ts'

it('gives the known answers of Threefry-2x32-20', () => {
  // From the reference distribution (Random123, kat_vectors).
  const words = (...counters: [number, number, number, number]) => threefry(...counters).map(word => word >>> 0)
  expect(words(0, 0, 0, 0)).toEqual([0x6b200159, 0x99ba4efe])
  expect(words(-1, -1, -1, -1)).toEqual([0x1cb996fc, 0xbb002be7])
  expect(words(0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3)).toEqual([0xc4923a9c, 0x483df7a0])
})

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

function correlation(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)]
  const covariance = mean(a.map((value, index) => (value - meanA) * (b[index]! - meanB)))
  const deviation = (values: readonly number[], centre: number) => Math.sqrt(mean(values.map(v => (v - centre) ** 2)))
  return covariance / deviation(a, meanA) / deviation(b, meanB)
}

it('is uniform: in sixteen bins, by chi-square, whichever counter runs', () => {
  const uniform = keyedUniform(1, 'bins')
  for (const draw of [(index: number) => uniform(index, 0), (index: number) => uniform(3, index)]) {
    const counts = new Array<number>(16).fill(0)
    for (let index = 0; index < 16_000; index++) counts[Math.floor(16 * draw(index))]!++
    const chiSquare = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0)
    // 15 degrees of freedom: within the 0.01 % tails.
    expect(chiSquare).toBeGreaterThan(2)
    expect(chiSquare).toBeLessThan(45)
  }
})

it('neighbouring counters, seeds and keys are not correlated; the same ones are the same', () => {
  const draws = (seed: number, key: string | number, first: number, shift = 0) => {
    const uniform = keyedUniform(seed, key)
    return Array.from({ length: 4000 }, (_, index) => uniform(first, index + shift))
  }
  const base = draws(1, 'a', 0)
  expect(draws(1, 'a', 0)).toEqual(base)
  const others = [
    draws(2, 'a', 0),
    draws(1, 'b', 0),
    draws(1, 'a', 1),
    draws(1, 'a', 0, 1),
    draws(1, 7, 0),
    draws(1, '7', 0),
  ]
  for (const other of others) expect(Math.abs(correlation(base, other))).toBeLessThan(0.065)
  expect(Math.abs(correlation(draws(1, 7, 0), draws(1, '7', 0)))).toBeLessThan(0.065)
  expect(() => keyedUniform(Number.NaN, 'a')).toThrow('the seed is NaN')
})
