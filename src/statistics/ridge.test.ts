import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitRidge, fitSparseRidge } from './ridge.ts'
import type { SparseVector } from './sparse.ts'
import { mean } from './summary.ts'

const { ridges } = JSON.parse(readFileSync(new URL('fixtures/statistics.json', import.meta.url), 'utf8')) as {
  ridges: {
    rows: number[][]
    targets: number[]
    penalty: number
    intercept: number
    coefficients: number[]
    fitted: number[]
  }[]
}

function sparse(row: readonly number[]): SparseVector {
  const indices = Int32Array.from(row.keys().filter(index => row[index] !== 0))
  return { indices, values: Float64Array.from(indices, index => row[index]!) }
}

test.each(ridges)('scikit-learn gives the same line (intercept $intercept)', expected => {
  const { rows, targets, penalty } = expected
  const dense = fitRidge(rows, targets, penalty)
  const onSparse = fitSparseRidge(rows.map(sparse), rows[0]!.length, targets, penalty)
  expect(dense.intercept).toBeCloseTo(expected.intercept, 10)
  expect(onSparse.intercept).toBeCloseTo(expected.intercept, 8)
  for (const [i, coefficient] of expected.coefficients.entries()) {
    expect(dense.coefficients[i]).toBeCloseTo(coefficient, 10)
    expect(onSparse.coefficients[i]).toBeCloseTo(coefficient, 8)
  }
  for (const [i, fitted] of expected.fitted.entries()) {
    expect(dense.predict(rows[i]!)).toBeCloseTo(fitted, 10)
    expect(onSparse.predict(sparse(rows[i]!))).toBeCloseTo(fitted, 8)
  }
})

const number = fc.integer({ min: -20, max: 20 }).map(value => value / 10)
const data = fc.integer({ min: 1, max: 6 }).chain(columns =>
  fc.array(fc.tuple(fc.array(number, { minLength: columns, maxLength: columns }), number), {
    minLength: 1,
    maxLength: 8,
  }),
)

test('dense and sparse, primal and dual agree, and the penalised sum of squares cannot be lowered', () => {
  fc.assert(
    fc.property(
      data,
      fc.double({ min: 0.01, max: 10, noNaN: true }),
      fc.array(number, { minLength: 7, maxLength: 7 }),
      (list, penalty, step) => {
        const rows = list.map(([row]) => row)
        const targets = list.map(([, target]) => target)
        const columns = rows[0]!.length
        const dense = fitRidge(rows, targets, penalty)
        const onSparse = fitSparseRidge(rows.map(sparse), columns, targets, penalty)
        for (const row of rows) expect(onSparse.predict(sparse(row))).toBeCloseTo(dense.predict(row), 6)
        const cost = (share: number) => {
          const coefficients = Array.from(dense.coefficients, (value, i) => value + share * step[i]!)
          const intercept = dense.intercept + share * step[6]!
          const errors = rows.map(
            (row, i) => targets[i]! - intercept - row.reduce((sum, x, j) => sum + x * coefficients[j]!, 0),
          )
          return [...errors.map(error => error ** 2), ...coefficients.map(value => penalty * value ** 2)].reduce(
            (a, b) => a + b,
            0,
          )
        }
        expect(cost(0)).toBeLessThanOrEqual(cost(0.01) + 1e-9)
        expect(cost(0)).toBeLessThanOrEqual(cost(-0.01) + 1e-9)
      },
    ),
  )
})

test('as the penalty grows, every prediction tends to the mean', () => {
  fc.assert(
    fc.property(data, list => {
      const rows = list.map(([row]) => row)
      const targets = list.map(([, target]) => target)
      const dense = fitRidge(rows, targets, 1e12)
      const onSparse = fitSparseRidge(rows.map(sparse), rows[0]!.length, targets, 1e12)
      for (const row of rows) {
        expect(dense.predict(row)).toBeCloseTo(mean(targets), 8)
        expect(onSparse.predict(sparse(row))).toBeCloseTo(mean(targets), 8)
      }
    }),
  )
})

test('one row, equal targets and empty rows are fine', () => {
  const empty = sparse([0, 0])
  expect(fitSparseRidge([empty], 2, [3], 1).predict(empty)).toBe(3)
  expect(fitSparseRidge([empty, sparse([1, 0])], 2, [3, 3], 1).predict(sparse([5, 5]))).toBe(3)
  expect(fitRidge([[1, 2]], [3], 1).predict([0, 0])).toBe(3)
})

test('wrong arguments', () => {
  expect(() => fitRidge([], [], 1)).toThrow('fitRidge: there are 0 rows and 0 targets')
  expect(() => fitSparseRidge([], 0, [1], 1)).toThrow('fitSparseRidge: there are 0 rows and 1 targets')
  expect(() => fitRidge([[1], [1, 2]], [1, 2], 1)).toThrow('row 1 has 2 values and the first 1')
  expect(() => fitRidge([[1]], [1], 0)).toThrow('the penalty is 0; it must be positive')
})
