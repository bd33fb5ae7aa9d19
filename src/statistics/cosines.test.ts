import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cosinesWith } from './cosines.ts'
import { cosine, type SparseVector } from './sparse.ts'

const size = 7
const value = fc.oneof(fc.constant(0), fc.double({ min: -2, max: 2, noNaN: true }))
const vector = fc.array(value, { minLength: size, maxLength: size }).map((row): SparseVector => {
  const indices = Int32Array.from(row.keys().filter(index => row[index] !== 0))
  return { indices, values: Float64Array.from(indices, index => row[index]!) }
})

test('cosines with many are those with each, to the last bit, whoever was asked about before', () => {
  fc.assert(
    fc.property(fc.array(vector), fc.array(vector), (others, asked) => {
      const cosinesOf = cosinesWith(others, size)
      for (const one of asked) expect([...cosinesOf(one)]).toEqual(others.map(other => cosine(one, other)))
    }),
  )
})
