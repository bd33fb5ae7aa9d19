import { expect, test } from 'vitest'
import type { Run } from '../experiment/intervention.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { intervalOf } from '../statistics/bootstrap.ts'
import { seededRandom } from '../statistics/random.ts'
import { spearman } from '../statistics/ranks.ts'
import { mean } from '../statistics/summary.ts'
import { groupResamples } from './group-resamples.ts'
import { noiseCeiling, perfectForecastCorrelation, truthWithinPools, twoSeedReliability } from './noise-ceiling.ts'
import { plantedRecords, seedNoise } from './planted/response-surface.ts'

const records = plantedRecords('olmo', 80, seededRandom(1))
const resamples = groupResamples(records, 100, 1)

test('the noise ceiling is the rank correlation of two seeds', () => {
  const withSeeds = (noise: number): ExperimentRecord[] => {
    const random = seededRandom(4)
    return records
      .filter(({ measured }) => measured !== null)
      .map(record => {
        const values = [0, 0].map(() => 2 - record.measured!.gain + noise * random.normal())
        const gain = 2 - (values[0]! + values[1]!) / 2
        return {
          ...record,
          measured: { ...record.measured!, gain },
          runs: values.map((value, seed) => runOf(seed, value)),
        }
      })
  }
  const ceiling = (noise: number) => noiseCeiling(withSeeds(noise), resamples)
  expect(ceiling(0).value).toBeCloseTo(1, 12)
  const some = ceiling(0.01)
  expect(some.value).toBeLessThan(0.97)
  expect(some.value).toBeGreaterThan(0.4)
  expect(intervalOf(some).low).toBeLessThan(some.value)
  expect(Math.abs(ceiling(1e6).value)).toBeLessThan(0.4)
  const real = ceiling(seedNoise)
  expect(real.value).toBeLessThan(1)
  expect(real.value).toBeGreaterThan(0.5)
  expect(noiseCeiling(records, resamples).value).toBeNaN()
})

test('records against different references are ranked by their gains, not by their metric', () => {
  const random = seededRandom(6)
  const series = records.slice(0, 40).map((record, index) => {
    const gain = random.normal()
    const reference = 2 - index
    return {
      ...record,
      measured: { gain, standardError: null, degreesOfFreedom: 0, probabilityBetter: null },
      runs: [0, 1].map(seed => runOf(seed, reference - gain + (seed === 0 ? 1 : -1) * (index % 2 === 0 ? 5 : -5))),
    }
  })
  // Seeds that are off in opposite ways agree on nothing, although the metric falls steadily over the series.
  expect(noiseCeiling(series, []).value).toBeLessThan(-0.5)
})

test('from there it is Spearman and Brown’s', () => {
  expect(twoSeedReliability(0.5)).toBeCloseTo(2 / 3, 12)
  // Simulated: the truth and two noisy readings of it.
  const random = seededRandom(3)
  const readings = Array.from({ length: 4000 }, () => {
    const truth = random.normal()
    const [first, second] = [truth + random.normal(), truth + random.normal()]
    return { truth, first, second, both: (first + second) / 2 }
  })
  const correlation = (of: (one: (typeof readings)[number]) => number, other: typeof of) => {
    const product = (a: typeof of, b: typeof of) => readings.reduce((sum, one) => sum + a(one) * b(one), 0)
    return product(of, other) / Math.sqrt(product(of, of) * product(other, other))
  }
  const single = correlation(
    one => one.first,
    one => one.second,
  )
  expect(perfectForecastCorrelation(single)).toBeCloseTo(
    correlation(
      one => one.truth,
      one => one.both,
    ),
    1,
  )
})

test('within pools of a few rows the truth ranks as in a simulation, and perfectly without noise', () => {
  const random = seededRandom(8)
  for (const size of [2, 4, 16]) {
    const truths = Array.from({ length: 1500 }, () => Array.from({ length: size }, () => random.normal()))
    const reading = (pool: readonly number[]) => pool.map(truth => truth + random.normal())
    const reached = mean(truths.map(pool => spearman(pool, reading(pool))!))
    const all = truths.flat()
    const ceiling = spearman(reading(all), reading(all))!
    // The mean of 1500 rank correlations has a standard error below 0.02.
    expect(Math.abs(truthWithinPools(ceiling, size) - reached)).toBeLessThan(0.06)
    expect(truthWithinPools(1, size)).toBeCloseTo(1, 6)
  }
  // Not the square root of what two seeds agree by, which is 0.69.
  expect(truthWithinPools(0.4826, 4)).toBeCloseTo(0.576, 3)
  expect(truthWithinPools(-0.1, 4)).toBeNaN()
})

function runOf(seed: number, value: number): Run {
  const outcome = { kind: 'finished', reason: null, metrics: { val_bpb: value }, exitCode: 0 } as const
  const times = { startedAt: null, finishedAt: null, seconds: null, cost: null }
  return { id: seed, versionId: 'v', interventionId: 1, seed, attempt: 1, outcome: { ...outcome, ...times } }
}
