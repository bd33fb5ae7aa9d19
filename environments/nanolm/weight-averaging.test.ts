import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Averaging, averagingRate, movedAverage } from './weight-averaging.ts'

/** The average after each of these weights, all alike but for their values. */
function average(averaging: Averaging, course: readonly number[]): number | null {
  let current: ReadonlyMap<string, Float32Array> | null = null
  for (const [step, value] of course.entries()) {
    const rate = averagingRate(averaging, step, course.length)
    if (rate > 0) current = movedAverage(current, new Map([['w', Float32Array.of(value, 2 * value)]]), rate)
  }
  if (current === null) return null
  expect(current.get('w')![1]).toBeCloseTo(2 * current.get('w')![0]!, 4)
  return current.get('w')![0]!
}

const settings = { averagingDecay: 0.9, averagingFraction: 0.3 }
const anyCourse = fc.array(fc.float({ min: -10, max: 10, noNaN: true }), { minLength: 1, maxLength: 40 })

test('none takes nothing', () => {
  expect(average({ ...settings, weightAveraging: 'none' }, [1, 2, 3])).toBeNull()
})

test('tail is the mean of the last share of the steps, at least the last', () => {
  fc.assert(
    fc.property(anyCourse, course => {
      const last = course.slice(-Math.max(1, Math.round(0.3 * course.length)))
      const mean = last.reduce((sum, value) => sum + value, 0) / last.length
      expect(average({ ...settings, weightAveraging: 'tail' }, course)).toBeCloseTo(mean, 4)
    }),
  )
})

test('exponential weighs a step by the decay to the power of its age, and the weights sum to 1', () => {
  fc.assert(
    fc.property(anyCourse, course => {
      const weights = course.map((_, step) => 0.9 ** (course.length - 1 - step))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const expected = course.reduce((sum, value, step) => sum + (weights[step]! / total) * value, 0)
      expect(average({ ...settings, weightAveraging: 'exponential' }, course)).toBeCloseTo(expected, 4)
    }),
  )
})

test('the arrays that are given stay as they are', () => {
  const [earlier, later] = [new Map([['w', Float32Array.of(1)]]), new Map([['w', Float32Array.of(3)]])]
  expect(movedAverage(earlier, later, 0.5).get('w')).toEqual(Float32Array.of(2))
  expect([earlier.get('w')![0], later.get('w')![0]]).toEqual([1, 3])
})
