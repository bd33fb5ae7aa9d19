import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutEqualColumns } from './equal-columns.ts'
import { fitSparseRidge } from './ridge.ts'
import { type SparseVector, sparseDot } from './sparse.ts'

const size = 6
const value = fc.integer({ min: -4, max: 4 }).map(each => each / 2)
const dense = fc.array(value, { minLength: size, maxLength: size })
/** Which of three columns stands in each of six: most of them more than once. */
const copied = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: size, maxLength: size })
const cases = fc.record({
  list: fc.array(fc.tuple(dense, value), { minLength: 1, maxLength: 8 }),
  copied,
  asked: fc.array(dense, { minLength: 1, maxLength: 4 }),
  penalty: fc.double({ min: 0.1, max: 10, noNaN: true }),
})

function sparse(row: readonly number[]): SparseVector {
  const indices = Int32Array.from(row.keys().filter(index => row[index] !== 0))
  return { indices, values: Float64Array.from(indices, index => row[index]!) }
}

test('products with the rows and what ridge regression predicts stay, of vectors too that tell equal columns apart', () => {
  fc.assert(
    fc.property(cases, ({ list, copied, asked, penalty }) => {
      const rows = list.map(([row]) => sparse(copied.map(column => row[column]!)))
      const targets = list.map(([, target]) => target)
      const fewer = withoutEqualColumns(rows, size)
      const before = fitSparseRidge(rows, size, targets, penalty)
      const after = fitSparseRidge(fewer.rows, size, targets, penalty)
      for (const vector of [...rows, ...asked.map(sparse)]) {
        const shorter = fewer.of(vector)
        expect([...shorter.indices]).toEqual([...new Set(shorter.indices)].sort((a, b) => a - b))
        expect(after.predict(shorter)).toBeCloseTo(before.predict(vector), 7)
        for (const [index, row] of rows.entries()) {
          expect(sparseDot(shorter, fewer.rows[index]!)).toBeCloseTo(sparseDot(vector, row), 10)
        }
      }
    }),
  )
})

test('of equal columns the first stays, times the root of how many they are; others are left alone', () => {
  const { rows, of } = withoutEqualColumns([sparse([1, 2, 1, 1, 0]), sparse([0, 3, 0, 0.5, 0])], 5)
  expect([...rows[0]!.indices]).toEqual([0, 1, 3])
  expect(rows[0]!.values[0]).toBeCloseTo(Math.SQRT2, 12)
  expect([...rows[0]!.values.slice(1)]).toEqual([2, 1])
  expect(rows[1]).toEqual(sparse([0, 3, 0, 0.5, 0]))
  expect([...of(sparse([0, 1, 4, 0, 0])).indices]).toEqual([0, 1])
})
