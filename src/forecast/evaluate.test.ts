import { expect, test } from 'vitest'
import type { Run } from '../experiment/intervention.ts'
import type { ExperimentRecord, Quantiles } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import { evaluate, noiseCeiling } from './evaluate.ts'
import { type Forecaster, forecasters } from './forecaster.ts'
import { historyOf } from './history.ts'
import { plantedRecords, recipeEnvironment } from './planted/response-surface.ts'

const environment = recipeEnvironment('olmo')
const records = seededRandom(1).shuffle(plantedRecords('olmo', 80, seededRandom(1)))
const [history, tested] = [records.slice(0, 40), records.slice(40)]
const split = { environment, history, tested }

/** Knows the outcomes: the best that a forecast can be. */
const oracle: Forecaster = (_environment, _history, candidates) =>
  (candidates as readonly ExperimentRecord[]).map(({ measured, outcome }) => {
    const gain = measured?.gain ?? -1
    const quantiles: Quantiles = [gain - 0.001, gain, gain, gain, gain + 0.001]
    const finishes = outcome === 'finished' ? 1 : 0
    return { quantiles, finishes, forecaster: 'oracle', forecasterVersion: '1', recordIds: [] }
  })

test('an oracle is perfect', () => {
  const quality = evaluate(oracle, split, { seed: 1 })
  expect(quality.spearman.value).toBeCloseTo(1, 12)
  expect(quality.meanAbsoluteError).toEqual({ value: 0, low: 0, high: 0 })
  expect(quality.regret).toEqual({ value: 0, low: 0, high: 0 })
  expect(quality.ndcg).toEqual({ value: 1, low: 1, high: 1 })
  expect(quality.coverage.value).toBe(1)
  expect(quality.brierSkill.value).toBe(1)
})

test('the kernel beats the constant at order and size, and its intervals lie around its numbers', () => {
  const constant = evaluate(forecasters.constant, split, { seed: 1 })
  const kernel = evaluate(forecasters.kernel, split, { seed: 1 })
  expect(constant.spearman.value).toBeNaN()
  expect(kernel.spearman.low).toBeGreaterThan(0.3)
  expect(kernel.meanAbsoluteError.value).toBeLessThan(constant.meanAbsoluteError.value)
  expect(kernel.regret.value).toBeLessThan(constant.regret.value / 2)
  expect(kernel.ndcg.low).toBeGreaterThan(constant.ndcg.value)
  expect(kernel.pinballLoss.value).toBeLessThan(constant.pinballLoss.value)
  for (const { value, low, high } of [kernel.spearman, kernel.regret, kernel.ndcg, kernel.coverage]) {
    expect(low).toBeLessThanOrEqual(value)
    expect(high).toBeGreaterThanOrEqual(value)
    expect(high).toBeGreaterThan(low)
  }
})

test('a constant scores what choosing at random scores', () => {
  const quality = evaluate(forecasters.constant, { ...split, tested: tested.slice(0, 16) }, { seed: 1, pools: 3 })
  const random = seededRandom(9)
  const gains = tested.slice(0, 16).map(({ measured }) => measured?.gain ?? Number.NEGATIVE_INFINITY)
  const best = Math.max(...gains)
  const nothing = Math.min(0, ...gains.filter(Number.isFinite))
  const drawn = Array.from({ length: 40_000 }, () => best - Math.max(nothing, ...random.sample(gains, 3)))
  const expected = drawn.reduce((sum, value) => sum + value, 0) / drawn.length
  // All 16 are in every pool, so only the order within the tie is left to chance.
  expect(quality.regret.value).toBeCloseTo(expected, 3)
})

test('the seed decides the numbers; the order of the worth can be another than the median', () => {
  const numbers = (seed: number) => {
    const { forecasts, ...rest } = evaluate(forecasters.ridge, split, { seed, pools: 50 })
    return rest
  }
  expect(numbers(2)).toEqual(numbers(2))
  expect(numbers(2)).not.toEqual(numbers(3))
  const worst = evaluate(oracle, split, {
    seed: 1,
    worth: forecasts => forecasts.map(({ quantiles }) => -quantiles[2]),
  })
  expect(worst.regret.value).toBeGreaterThan(0.01)
})

test('a tested record in the history is refused', () => {
  expect(() => evaluate(oracle, { ...split, history: records }, { seed: 1 })).toThrow(
    `record ${tested[0]!.id} is both tested and in the history; leave it out of one`,
  )
  expect(() => evaluate(oracle, { ...split, tested: [] }, { seed: 1 })).toThrow('no record is tested')
})

test('the noise ceiling is the rank correlation of two seeds', () => {
  const withSeeds = (noise: number) => {
    const random = seededRandom(4)
    return records
      .filter(({ measured }) => measured !== null)
      .map(record => ({
        ...record,
        runs: [11, 12].map(seed => runOf(seed, 2 - record.measured!.gain + noise * random.normal())),
      }))
  }
  expect(noiseCeiling(withSeeds(0), { seed: 1 })!.value).toBeCloseTo(1, 12)
  const some = noiseCeiling(withSeeds(0.01), { seed: 1 })!
  expect(some.value).toBeLessThan(0.97)
  expect(some.value).toBeGreaterThan(0.4)
  expect(some.low).toBeLessThan(some.value)
  expect(Math.abs(noiseCeiling(withSeeds(1e6), { seed: 1 })!.value)).toBeLessThan(0.4)
  expect(noiseCeiling(records, { seed: 1 })).toBeNull()
})

function runOf(seed: number, value: number): Run {
  const outcome = { kind: 'finished', reason: null, metrics: { val_bpb: value }, exitCode: 0 } as const
  const times = { startedAt: null, finishedAt: null, seconds: null, cost: null }
  return { id: seed, versionId: 'v', interventionId: 1, seed, attempt: 1, outcome: { ...outcome, ...times } }
}

test('histories are of the family, of others, of both or empty', () => {
  const all = [...records, ...plantedRecords('nanochat', 5, seededRandom(2), 500)]
  expect(historyOf('none', environment, all)).toEqual([])
  expect(historyOf('in-environment', environment, all)).toEqual(records)
  expect(historyOf('cross-environment', environment, all)).toHaveLength(5)
  expect(historyOf('pooled', environment, all)).toEqual(all)
})
