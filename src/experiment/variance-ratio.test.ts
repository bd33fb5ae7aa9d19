import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { varianceRatioTail } from './variance-ratio.ts'

const { varianceRatios } = JSON.parse(readFileSync(new URL('fixtures/gain.json', import.meta.url), 'utf8')) as {
  varianceRatios: { ratio: number; numerator: number; denominator: number; tail: number }[]
}

describe('varianceRatioTail', () => {
  test.each(varianceRatios)('F($numerator, $denominator) beyond $ratio, as in SciPy', given => {
    const tail = varianceRatioTail(given.ratio, given.numerator, given.denominator)
    expect(Math.abs(tail - given.tail)).toBeLessThanOrEqual(1e-11 * given.tail)
  })

  test('an infinite ratio leaves nothing beyond it', () => {
    expect(varianceRatioTail(Number.POSITIVE_INFINITY, 1, 4)).toBe(0)
  })
})
