import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cholesky, solveCholesky } from './cholesky.ts'
import { conditionGaussianProcess } from './gaussian-process.ts'
import { searchMaximum } from './gaussian-process-search.ts'
import { seededRandom } from './random.ts'

type Point = readonly number[]

function squaredExponential(variance: number, length: number): (a: Point, b: Point) => number {
  return (a, b) =>
    variance * Math.exp(-0.5 * a.reduce((sum, value, axis) => sum + ((value - b[axis]!) / length) ** 2, 0))
}

function covarianceOf(points: readonly Point[], kernel: (a: Point, b: Point) => number): Float64Array {
  return Float64Array.from(points.flatMap(a => points.map(b => kernel(a, b))))
}

interface FixtureCase {
  readonly variance: number
  readonly length: number
  readonly inputs: readonly Point[]
  readonly targets: readonly number[]
  readonly noise: readonly number[]
  readonly queries: readonly Point[]
  readonly mean: readonly number[]
  readonly deviation: readonly number[]
  readonly logMarginalLikelihood: number
}

const fixture = JSON.parse(readFileSync(new URL('./fixtures/gaussian-process.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly FixtureCase[]
}

test.each(fixture.cases)('agrees with scikit-learn on $inputs.length observations', expected => {
  const kernel = squaredExponential(expected.variance, expected.length)
  const process = conditionGaussianProcess(
    covarianceOf(expected.inputs, kernel),
    Float64Array.from(expected.noise),
    Float64Array.from(expected.targets),
  )
  expect(process.logMarginalLikelihood).toBeCloseTo(expected.logMarginalLikelihood, 9)
  expected.queries.forEach((query, index) => {
    const cross = Float64Array.from(expected.inputs, input => kernel(input, query))
    const { mean, variance } = process.predict(cross, kernel(query, query))
    expect(mean).toBeCloseTo(expected.mean[index]!, 9)
    expect(Math.sqrt(variance)).toBeCloseTo(expected.deviation[index]!, 9)
  })
})

test('a Cholesky factor solves its system and gives its determinant', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 25 }), fc.integer(), (size, seed) => {
      const random = seededRandom(seed)
      const root = Float64Array.from({ length: size * size }, () => random.normal())
      const matrix = new Float64Array(size * size)
      for (let row = 0; row < size; row++) {
        for (let column = 0; column < size; column++) {
          for (let k = 0; k < size; k++)
            matrix[row * size + column]! += root[row * size + k]! * root[column * size + k]!
          if (row === column) matrix[row * size + column]! += 1
        }
      }
      const wanted = Float64Array.from({ length: size }, () => random.normal())
      const right = wanted.map((_, row) => wanted.reduce((sum, value, k) => sum + matrix[row * size + k]! * value, 0))
      const factor = cholesky(matrix, size)!
      solveCholesky(factor, right).forEach((value, index) => {
        expect(value).toBeCloseTo(wanted[index]!, 7)
      })
      const product = factor.lower.reduce(
        (sum, value, index) => (index % (size + 1) === 0 ? sum + 2 * Math.log(value) : sum),
        0,
      )
      expect(factor.logDeterminant).toBeCloseTo(product, 9)
    }),
    { numRuns: 40 },
  )
})

test('a matrix that is not positive definite has no factor', () => {
  expect(cholesky(Float64Array.of(1, 2, 2, 1), 2)).toBeNull()
  expect(cholesky(Float64Array.of(Number.NaN), 1)).toBeNull()
  expect(() => cholesky(Float64Array.of(1, 2), 2)).toThrow('not a matrix of 2 rows; pass 4')
})

test('duplicated observations without noise still condition, by jitter', () => {
  const process = conditionGaussianProcess(
    Float64Array.of(1, 1, 1, 1),
    Float64Array.of(0, 0),
    Float64Array.of(0.5, 0.5),
  )
  expect(process.predict(Float64Array.of(1, 1), 1).mean).toBeCloseTo(0.5, 6)
})

test('the search finds a planted length-scale by marginal likelihood', () => {
  const random = seededRandom(11)
  const points = Array.from({ length: 90 }, () => [6 * random.uniform()])
  const planted = 0.5
  const factor = cholesky(
    covarianceOf(points, squaredExponential(1, planted)).map((value, index) => value + (index % 91 === 0 ? 1e-3 : 0)),
    90,
  )!
  const white = points.map(() => random.normal())
  const targets = Float64Array.from(points, (_, row) =>
    white.slice(0, row + 1).reduce((sum, value, column) => sum + factor.lower[row * 90 + column]! * value, 0),
  )
  const evidence = ([variance, length, noise]: readonly number[]) =>
    conditionGaussianProcess(
      covarianceOf(points, squaredExponential(Math.exp(variance!), Math.exp(length!))),
      new Float64Array(90).fill(Math.exp(noise!)),
      targets,
    ).logMarginalLikelihood
  const plan = { centre: [1, 1, -3], spread: [1, 1, 2], starts: 10, steps: 100 }
  const found = searchMaximum(evidence, plan, seededRandom(3))
  expect(Math.exp(found.point[1]!)).toBeGreaterThan(planted / 1.4)
  expect(Math.exp(found.point[1]!)).toBeLessThan(planted * 1.4)
  expect(found.value).toBeGreaterThanOrEqual(evidence([0, Math.log(planted), Math.log(1e-3)]))
  expect(searchMaximum(evidence, plan, seededRandom(3))).toEqual(found)
})
