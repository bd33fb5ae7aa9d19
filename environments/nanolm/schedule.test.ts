import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resolveConfiguration } from './configuration.ts'
import { options } from './options.ts'
import { learningRateFactor, type Schedule } from './schedule.ts'

const anySchedule: fc.Arbitrary<Schedule> = fc.record({
  schedule: fc.constantFrom(...options.schedule.choices),
  warmupFraction: fc.double({ min: 0, max: 0.5, noNaN: true }),
  decayFraction: fc.double({ min: 0.05, max: 0.5, noNaN: true }),
  finalLearningRateFraction: fc.double({ min: 0, max: 1, noNaN: true }),
})

function course(schedule: Schedule, steps: number): number[] {
  return Array.from({ length: steps }, (_, step) => learningRateFactor(schedule, step, steps))
}

test('rises to 1, never above, then never rises again, and ends at the final fraction', () => {
  fc.assert(
    fc.property(anySchedule, fc.integer({ min: 20, max: 500 }), (schedule, steps) => {
      const factors = course(schedule, steps)
      const warmupSteps = Math.round(schedule.warmupFraction * steps)
      expect(factors[0]).toBeGreaterThan(0)
      for (let step = 1; step < steps; step++) {
        if (step < warmupSteps) expect(factors[step]).toBeGreaterThan(factors[step - 1]!)
        if (step > warmupSteps) expect(factors[step]).toBeLessThanOrEqual(factors[step - 1]! + 1e-12)
      }
      expect(factors[warmupSteps]).toBeCloseTo(1, 12)
      const final = schedule.schedule === 'constant' ? 1 : schedule.finalLearningRateFraction
      expect(factors.at(-1)).toBeCloseTo(final, 12)
    }),
  )
})

test('half-way through the decay: cosine and linear are at the middle, warmup-stable-decay has not begun', () => {
  const schedule = { warmupFraction: 0, decayFraction: 0.25, finalLearningRateFraction: 0.2 }
  expect(learningRateFactor({ ...schedule, schedule: 'cosine' }, 50, 101)).toBeCloseTo(0.6, 12)
  expect(learningRateFactor({ ...schedule, schedule: 'linear' }, 50, 101)).toBeCloseTo(0.6, 12)
  expect(learningRateFactor({ ...schedule, schedule: 'warmup-stable-decay' }, 50, 101)).toBe(1)
  expect(learningRateFactor({ ...schedule, schedule: 'cosine' }, 25, 101)).toBeGreaterThan(0.85)
})

test('one step is a whole schedule', () => {
  for (const schedule of options.schedule.choices) {
    const factor = learningRateFactor({ ...resolveConfiguration({}), schedule, warmupFraction: 0 }, 0, 1)
    expect(factor).toBe(1)
  }
})
