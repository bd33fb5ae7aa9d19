/**
 * How data are cut into pieces: nothing is lost or doubled, nothing is too large, and shapes are few.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutIntoPieces, rounded } from './pieces.ts'

const longest = { positions: 100, encoderPositions: 40 }
const lengths = fc.array(
  fc.record({
    positions: fc.integer({ min: 1, max: 100 }),
    encoderPositions: fc.integer({ min: 0, max: 40 }),
  }),
  { minLength: 1, maxLength: 60 },
)

it('every row once, in a piece that has room for it and is not larger than asked', () => {
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 1000 }), (all, tokensAtOnce) => {
      const pieces = cutIntoPieces(all, tokensAtOnce, longest)
      const places = pieces.flatMap(({ members }) => members)
      expect(places.toSorted((a, b) => a - b)).toEqual(all.map((_, index) => index))
      for (const { members, rows, positions, encoderPositions } of pieces) {
        expect(rows).toBeGreaterThanOrEqual(members.length)
        expect(positions).toBeLessThanOrEqual(100)
        expect(encoderPositions).toBeLessThanOrEqual(40)
        for (const member of members) {
          expect(all[member]!.positions).toBeLessThanOrEqual(positions)
          expect(all[member]!.encoderPositions).toBeLessThanOrEqual(encoderPositions)
        }
        if (members.length > 1) expect(rows * (positions + encoderPositions)).toBeLessThanOrEqual(tokensAtOnce)
        else expect(rows).toBe(1)
      }
    }),
  )
})

it('equal rows keep their length and are spread evenly; fewer than four are padded', () => {
  const equal = (count: number, positions: number) =>
    Array.from({ length: count }, () => ({ positions, encoderPositions: 0 }))
  expect(cutIntoPieces(equal(24, 67), 2048, longest)).toMatchObject([{ rows: 24, positions: 67 }])
  expect(cutIntoPieces(equal(40, 67), 2048, longest)).toMatchObject([
    { rows: 20, positions: 67 },
    { rows: 20, positions: 67 },
  ])
  expect(cutIntoPieces(equal(3, 67), 2048, longest)).toMatchObject([{ rows: 3, positions: 96 }])
  expect(cutIntoPieces(equal(1, 97), 2048, longest)).toMatchObject([{ rows: 1, positions: 100 }])
})

it('long and short rows do not share a piece where that would make it too large', () => {
  const mixed = [...Array.from({ length: 30 }, () => 8), 90, 85].map(positions => ({ positions, encoderPositions: 0 }))
  const pieces = cutIntoPieces(mixed, 512, longest)
  const computed = pieces.reduce((sum, { rows, positions }) => sum + rows * positions, 0)
  const shapes = new Set(pieces.map(({ rows, positions }) => `${rows}x${positions}`))
  // 415 positions are real.
  expect(computed).toBeLessThan(2 * 415)
  expect(shapes.size).toBeLessThanOrEqual(2)
})

it('lengths are rounded up by a third at most, to few numbers', () => {
  const all = Array.from({ length: 4096 }, (_, index) => rounded(index + 1))
  expect(all.findIndex((value, index) => value < index + 1 || value >= 1.5 * (index + 1))).toBe(-1)
  expect(new Set(all).size).toBe(24)
  expect(all.slice(0, 12)).toEqual([1, 2, 3, 4, 6, 6, 8, 8, 12, 12, 12, 12])
})
