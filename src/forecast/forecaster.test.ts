import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Candidate, ExperimentRecord, Forecast } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import { forecasters } from './forecaster.ts'
import { candidateOf, environmentOf, literalsOf, recordWith } from './planted/records.ts'
import { plantedRecords, recipeEnvironment } from './planted/response-surface.ts'

const olmo = recipeEnvironment('olmo')
const history = [
  ...plantedRecords('olmo', 30, seededRandom(1)),
  ...plantedRecords('nanochat', 20, seededRandom(2), 1000),
]
const candidates: Candidate[] = plantedRecords('olmo', 8, seededRandom(3))
const options = { seed: 4 }

function expectSensible(forecast: Forecast, records: readonly ExperimentRecord[]): void {
  expect(forecast.quantiles).toHaveLength(5)
  expect(forecast.quantiles.every(Number.isFinite)).toBe(true)
  expect([...forecast.quantiles].sort((a, b) => a - b)).toEqual(forecast.quantiles)
  expect(forecast.finishes).toBeGreaterThan(0)
  expect(forecast.finishes).toBeLessThan(1)
  const ids = new Set(records.map(({ id }) => id))
  expect(forecast.recordIds.every(id => ids.has(id))).toBe(true)
}

describe.each(Object.entries(forecasters))('%s', (name, forecaster) => {
  test('gives every candidate its forecast, in their order, whoever else is asked about', () => {
    const together = forecaster(olmo, history, candidates, options)
    expect(together).toHaveLength(candidates.length)
    for (const forecast of together) {
      expectSensible(forecast, history)
      expect(forecast.forecaster).toBe(name)
    }
    expect(forecaster(olmo, history, [...candidates].reverse(), options).reverse()).toEqual(together)
    expect(candidates.flatMap(one => forecaster(olmo, history, [one], options))).toEqual(together)
    expect(forecaster(olmo, history, [], options)).toEqual([])
  })

  test('is the same to the last bit when it is asked again', () => {
    expect(forecaster(olmo, history, candidates, options)).toEqual(forecaster(olmo, history, candidates, options))
  })

  test.skipIf(name === 'recent')('does not depend on the order of the history', () => {
    const shuffled = seededRandom(5).shuffle(history)
    expect(forecaster(olmo, shuffled, candidates, options)).toEqual(forecaster(olmo, history, candidates, options))
  })

  test('without history is bit-identical whatever it has seen before, and the same for all candidates', () => {
    const one = forecaster(olmo, [], candidates, options)
    forecaster(olmo, history, candidates, options)
    const other = forecaster(olmo, [], candidates, options)
    expect(one).toEqual(other)
    expect(one).toEqual(candidates.map(() => one[0]))
    expect(one.every(({ quantiles, recordIds }) => quantiles[2] === 0 && recordIds.length === 0)).toBe(true)
  })

  test.each([
    ['one record', history.slice(0, 1)],
    ['two records', history.slice(0, 2)],
    ['failures only', history.map(record => ({ ...record, outcome: 'crashed' as const, measured: null }))],
    ['no record that has ended', history.map(record => ({ ...record, outcome: null, measured: null }))],
    ['equal gains', history.map((record, index) => recordWith(index, record.environment, record, 0.25))],
    ['no gain at all', history.map((record, index) => recordWith(index, record.environment, record, 0))],
    ['one intervention many times', history.map((_, index) => recordWith(index, olmo, candidates[0]!, 0.01, 0))],
  ])('is sensible with a history of %s', (_, records) => {
    for (const forecast of forecaster(olmo, records, candidates, options)) expectSensible(forecast, records)
  })

  test('a candidate without text, tags or changes has a forecast too', () => {
    const blank = literalsOf('', [])
    for (const records of [[], history.slice(0, 1), history]) {
      for (const forecast of forecaster(olmo, records, [blank], options)) expectSensible(forecast, records)
    }
    const wordless = [1, 2, 3].map(id => recordWith(id, environmentOf('bare', null), blank, id / 100))
    for (const forecast of forecaster(olmo, wordless, candidates, options)) expectSensible(forecast, wordless)
  })

  test('equal gains are expected again, roughly', () => {
    const records = history.map((record, index) => recordWith(index, olmo, record, 0.25))
    for (const { quantiles } of forecaster(olmo, records, candidates, options)) {
      expect(quantiles[2]).toBeGreaterThan(0.15)
      expect(quantiles[2]).toBeLessThan(0.3)
    }
  })

  test('gains in other units give forecasts in other units', () => {
    const rescaled = history.map(record => {
      const { measured } = record
      const scale = (value: number | null) => (value === null ? null : 1000 * value)
      return measured === null
        ? record
        : {
            ...record,
            measured: { ...measured, gain: 1000 * measured.gain, standardError: scale(measured.standardError) },
          }
    })
    const expected = forecaster(olmo, history, candidates, options)
    forecaster(olmo, rescaled, candidates, options).forEach(({ quantiles, finishes }, index) => {
      quantiles.forEach((value, level) => {
        expect(value / 1000).toBeCloseTo(expected[index]!.quantiles[level]!, 6)
      })
      expect(finishes).toBeCloseTo(expected[index]!.finishes, 6)
    })
  })

  test('is finite and in order for whatever a ledger may hold', () => {
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0, 1, -3e-4, 'muon', null, true),
      fc.constant([1, 2]),
      fc.constant({ a: { __proto__: 1 } }),
      fc.constant(undefined),
    )
    const changes = fc.array(
      fc.record({
        option: fc.constantFrom('lr', 'a.b', 'train.py:LR', '__proto__', 'é:"', ''),
        from: value,
        to: value,
      }),
      { maxLength: 4 },
    )
    const gain = fc.oneof(
      fc.double({ min: -1e12, max: 1e12, noNaN: true }),
      fc.constantFrom(0, 1e-300, -1e-12),
      fc.constant(null),
    )
    const environment = fc.constantFrom(
      olmo,
      recipeEnvironment('nanochat'),
      environmentOf('text', null),
      environmentOf('text', null, 'b'),
    )
    const record = fc.tuple(environment, fc.string({ unit: 'grapheme' }), changes, gain)
    fc.assert(
      fc.property(fc.array(record, { maxLength: 9 }), fc.string(), changes, (rows, sentence, changed) => {
        const records = rows.map(([where, words, changed, gain], id) =>
          recordWith(id, where, literalsOf(words, changed), gain),
        )
        for (const forecast of forecaster(olmo, records, [literalsOf(sentence, changed)], options)) {
          expectSensible(forecast, records)
        }
      }),
      { numRuns: 40 },
    )
  })
})

test('failures lower the chance of finishing of what is like them, and have no gain', () => {
  const environment = environmentOf('small', { depth: 4, activation: 'gelu' })
  const deeper = (depth: number) =>
    candidateOf(environment, `Make the model ${depth} layers deep.`, { depth }, ['depth'])
  const gated = candidateOf(environment, 'Use a gated activation.', { activation: 'swiglu' }, ['activation'])
  const records = [
    ...[8, 10, 12].map((depth, id) => recordWith(id, environment, deeper(depth), null)),
    ...[10, 11, 12, 13].map(id => recordWith(id, environment, gated, 0.01)),
  ]
  for (const forecaster of [forecasters.neighbours, forecasters.ridge, forecasters.kernel]) {
    const [deep, other] = forecaster(environment, records, [deeper(9), gated], options)
    expect(deep!.finishes).toBeLessThan(0.5)
    expect(other!.finishes).toBeGreaterThan(0.65)
    expect(deep!.recordIds).toContain(1)
  }
})

test('the kernel finds the side of an option on which runs fail, among many that finish', () => {
  const environment = environmentOf('sized', { width: 128 })
  const to = (width: number) => candidateOf(environment, 'Change the width.', { width })
  const records = [
    ...[64, 72, 80, 88, 96, 104, 112, 120, 136].map((width, id) => recordWith(id, environment, to(width), 0)),
    ...[176, 208, 240].map((width, id) => recordWith(100 + id, environment, to(width), null)),
  ]
  const [wider, narrower] = forecasters.kernel(environment, records, [to(192), to(84)], options)
  expect(wider!.finishes).toBeLessThan(0.35)
  expect(narrower!.finishes).toBeGreaterThan(0.85)
})
