import { expect, test } from 'vitest'
import type { Forecast } from '../experiment/record.ts'
import { type Estimate, intervalOf } from '../statistics/bootstrap.ts'
import { seededRandom } from '../statistics/random.ts'
import { type Estimates, evaluate, meanEstimates } from './evaluate.ts'
import { type Forecaster, forecasters } from './forecaster.ts'
import { groupResamples } from './group-resamples.ts'
import type { Part } from './judge.ts'
import { oracle } from './planted/oracle.ts'
import { plantedRecords, recipeEnvironment } from './planted/response-surface.ts'
import { measures, type Worth } from './quality.ts'

const environment = recipeEnvironment('olmo')
const records = seededRandom(1).shuffle(plantedRecords('olmo', 80, seededRandom(1)))
const [history, tested] = [records.slice(0, 40), records.slice(40)]
const part: Part = { environment, history, tested, guarded: false }

const medians = (forecasts: readonly Forecast[]) => forecasts.map(({ quantiles }) => quantiles[2])

function evaluated(
  forecaster: Forecaster,
  { parts = [part], seed = 1, pools = 1000, worth = medians as Worth, resamples = 300 } = {},
): Promise<Estimates> {
  const drawn = groupResamples(records, resamples, seed)
  return evaluate(forecaster, parts, { worth, pools, seed, random: seededRandom(seed), resamples: drawn })
}

const withInterval = (estimate: Estimate) => ({ value: estimate.value, ...intervalOf(estimate) })

test('an oracle is perfect', async () => {
  const quality = await evaluated(oracle)
  expect(quality.spearman.value).toBeCloseTo(1, 12)
  expect(withInterval(quality.error)).toEqual({ value: 0, low: 0, high: 0 })
  expect(withInterval(quality.regret)).toEqual({ value: 0, low: 0, high: 0 })
  expect(withInterval(quality.ndcg)).toEqual({ value: 1, low: 1, high: 1 })
  expect(quality.held.value).toBe(1)
  expect(quality.finishing.value).toBe(1)
})

test('the kernel beats the constant at order and size, and its intervals lie around its numbers', async () => {
  const constant = await evaluated(forecasters.constant)
  const kernel = await evaluated(forecasters.kernel)
  expect(constant.spearman.value).toBeNaN()
  expect(intervalOf(kernel.spearman).low).toBeGreaterThan(0.3)
  expect(kernel.error.value).toBeLessThan(constant.error.value)
  expect(kernel.regret.value).toBeLessThan(constant.regret.value / 2)
  expect(intervalOf(kernel.ndcg).low).toBeGreaterThan(constant.ndcg.value)
  expect(kernel.pinball.value).toBeLessThan(constant.pinball.value)
  for (const estimate of [kernel.spearman, kernel.regret, kernel.ndcg, kernel.held]) {
    const { value, low, high } = withInterval(estimate)
    expect(low).toBeLessThanOrEqual(value)
    expect(high).toBeGreaterThanOrEqual(value)
    expect(high).toBeGreaterThan(low)
  }
})

test('a constant scores what choosing at random scores, and so does whoever is said to have no ranking', async () => {
  const few = tested.slice(0, 16)
  const parts = [{ ...part, tested: few }]
  const random = seededRandom(9)
  const gains = few.map(({ measured }) => measured?.gain ?? Number.NEGATIVE_INFINITY)
  const best = Math.max(...gains)
  const nothing = Math.min(0, ...gains.filter(Number.isFinite))
  const drawn = Array.from({ length: 40_000 }, () => best - Math.max(nothing, ...random.sample(gains, 3)))
  const expected = drawn.reduce((sum, value) => sum + value, 0) / drawn.length
  // All 16 are in every pool, so only the order within the tie is left to chance.
  const constant = await evaluated(forecasters.constant, { parts, pools: 3, resamples: 1 })
  expect(constant.regret.value).toBeCloseTo(expected, 3)
  const unranked = await evaluated(oracle, { parts, pools: 3, resamples: 1, worth: null })
  expect(unranked.regret.value).toBeCloseTo(constant.regret.value, 12)
  expect(unranked.spearman.value).toBeNaN()
})

test('the seed decides the numbers; the order of the worth can be another than the median', async () => {
  const numbers = (seed: number) => evaluated(forecasters.ridge, { seed, pools: 50, resamples: 20 })
  expect(await numbers(2)).toEqual(await numbers(2))
  expect(await numbers(2)).not.toEqual(await numbers(3))
  const worst = await evaluated(oracle, { worth: forecasts => medians(forecasts).map(median => -median), resamples: 1 })
  expect(worst.regret.value).toBeGreaterThan(0.01)
})

test('resamples offer no record twice, so regret is about the same in them as it is', async () => {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  // 80 records in one part: each pool is a fifth of them.
  const parts = [{ ...part, history: [], tested: records }]
  const { regret } = await evaluated(forecasters.constant, { parts, pools: 2000, resamples: 150 })
  expect(mean(regret.resampled) / regret.value).toBeGreaterThan(0.95)
  expect(mean(regret.resampled) / regret.value).toBeLessThan(1.05)
})

test('of few records too, a resample’s regret and NDCG lie around what they are', async () => {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const parts = [{ ...part, tested: tested.slice(0, 12) }]
  const { regret, ndcg } = await evaluated(forecasters.constant, { parts, pools: 200, resamples: 150 })
  for (const estimate of [regret, ndcg]) {
    expect(Math.abs(mean(estimate.resampled) / estimate.value - 1)).toBeLessThan(0.02)
    expect(intervalOf(estimate).low).toBeLessThan(intervalOf(estimate).high)
  }
})

test('a tested record in the history is refused, and so is testing nothing', async () => {
  await expect(evaluated(oracle, { parts: [{ ...part, history: records }] })).rejects.toThrow(
    `record ${tested[0]!.id} is both tested and in the history; leave it out of one`,
  )
  await expect(evaluated(oracle, { parts: [{ ...part, tested: [] }] })).rejects.toThrow('no record is tested')
})

test('over parts, ranks are averaged within and errors put together; over environments, what is defined is averaged', async () => {
  const [first, second] = [tested.slice(0, 10), tested.slice(10)].map(half => ({ ...part, tested: half }))
  const [one, other, both] = await Promise.all(
    [[first!], [second!], [first!, second!]].map(parts =>
      evaluated(forecasters.ridge, { parts, pools: 10, resamples: 5 }),
    ),
  )
  const mean = meanEstimates([one!, other!])
  expect(both!.spearman.value).toBeCloseTo(mean.spearman.value, 12)
  const count = ({ tested }: Part) => tested.filter(({ measured }) => measured !== null).length
  const errors = one!.error.value * count(first!) + other!.error.value * count(second!)
  expect(both!.error.value).toBeCloseTo(errors / (count(first!) + count(second!)), 12)
  const undefinedOnes = { ...other!, spearman: { value: Number.NaN, resampled: Array(5).fill(Number.NaN) } }
  expect(meanEstimates([one!, undefinedOnes]).spearman).toEqual(one!.spearman)
  expect(Object.keys(mean).sort()).toEqual([...measures].sort())
})
