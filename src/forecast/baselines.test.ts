import { expect, test } from 'vitest'
import type { Candidate } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import { mean, quantile } from '../statistics/summary.ts'
import { cosine, fitTfIdf } from '../text/tfidf.ts'
import { forecasters } from './forecaster.ts'
import { interventionText } from './intervention-text.ts'
import { nearestNeighbours } from './neighbours.ts'
import { candidateOf, environmentOf, recordWith } from './planted/records.ts'
import { wordSeries } from './planted/word-series.ts'
import { ridgeRegression } from './ridge.ts'

const environment = environmentOf('small', { depth: 4, rate: 0.001, activation: 'gelu', decay: 0.1 })
const tried = [
  candidateOf(environment, 'Make the model deeper.', { depth: 6 }),
  candidateOf(environment, 'Raise the learning rate.', { rate: 0.002 }),
  candidateOf(environment, 'Use a gated activation.', { activation: 'swiglu' }),
  candidateOf(environment, 'Remove the weight decay.', { decay: 0 }),
]
const gains = [0.02, -0.01, 0.005, -0.03]
const history = tried.map((candidate, index) => recordWith(index, environment, candidate, gains[index]!))
const options = { seed: 1 }

test('neighbours with all records and equal weights give the mean', () => {
  const forecasts = nearestNeighbours(4, 'equal')(environment, history, tried, options)
  for (const { quantiles } of forecasts) expect(quantiles[2]).toBeCloseTo(mean(gains), 12)
})

test('the nearest neighbour of a duplicate is the duplicate', () => {
  const forecasts = nearestNeighbours(1, 'similarity')(environment, history, tried, options)
  forecasts.forEach(({ quantiles }, index) => {
    expect(quantiles[2]).toBeCloseTo(gains[index]!, 12)
  })
})

test('neighbours are the five most alike, the earlier first where they are equally alike, and finish as the most alike did', () => {
  const records = wordSeries('words', 120, { signal: 1, fading: 40 }, seededRandom(3))
  const [history, asked] = [records.slice(0, 110), records.slice(110)]
  const read = ({ intervention, changes }: Candidate) => interventionText(intervention, changes)
  const { transform } = fitTfIdf(history.map(read), { bigrams: true })
  const forecasts = forecasters.neighbours(history[0]!.environment, history, asked, options)
  asked.forEach((candidate, index) => {
    const alike = history.map(record => ({
      record,
      cosine: cosine(transform(read(candidate)), transform(read(record))),
    }))
    const nearest = alike
      .filter(({ record }) => record.measured !== null)
      .sort((first, second) => second.cosine - first.cosine)
      .slice(0, 5)
    const total = nearest.reduce((sum, { cosine }) => sum + cosine, 0)
    const centre = nearest.reduce((sum, { record, cosine }) => sum + cosine * record.measured!.gain, 0) / total
    expect(forecasts[index]!.quantiles[2]).toBeCloseTo(centre, 12)
    const weight = (some: typeof alike) => some.reduce((sum, { cosine }) => sum + cosine ** 2, 0)
    const finished = alike.filter(({ record }) => record.outcome === 'finished')
    const base = (finished.length + 0.8) / (history.length + 1)
    expect(forecasts[index]!.finishes).toBeCloseTo((2 * base + weight(finished)) / (2 + weight(alike)), 12)
  })
})

test('neighbours of a candidate like nothing are the whole history', () => {
  const stranger = candidateOf(environment, 'xyzzy', {})
  expect(forecasters.neighbours(environment, history, [stranger], options)[0]!.quantiles[2]).toBeCloseTo(
    mean(gains),
    12,
  )
})

test('ridge tends to the mean as its penalty grows, and to the gains as it vanishes', () => {
  const strict = ridgeRegression(1e12)(environment, history, tried, options)
  for (const { quantiles } of strict) expect(quantiles[2]).toBeCloseTo(mean(gains), 9)
  ridgeRegression(1e-6)(environment, history, tried, options).forEach(({ quantiles }, index) => {
    expect(quantiles[2]).toBeCloseTo(gains[index]!, 4)
  })
})

test('recent is the mean of the last ten gains, failures not counted', () => {
  const long = Array.from({ length: 25 }, (_, index) =>
    recordWith(index, environment, tried[index % 4]!, index % 5 === 4 ? null : index / 1000),
  )
  const last = long.flatMap(({ measured }) => (measured === null ? [] : [measured.gain])).slice(-10)
  const [forecast] = forecasters.recent(environment, long, tried, options)
  expect(last).toHaveLength(10)
  expect(forecast!.quantiles[2]).toBeCloseTo(mean(last), 12)
  expect(forecast!.finishes).toBeCloseTo((20 + 0.8) / 26, 12)
})

test('constant tends to the quantiles of the gains', () => {
  const long = Array.from({ length: 400 }, (_, index) =>
    recordWith(index, environment, tried[index % 4]!, Math.sinh(index / 100 - 2.5) / 100),
  )
  const sorted = long.map(({ measured }) => measured!.gain)
  const [forecast] = forecasters.constant(environment, long, tried, options)
  const levels = [0.1, 0.25, 0.5, 0.75, 0.9]
  forecast!.quantiles.forEach((value, index) => {
    expect(Math.abs(value - quantile(sorted, levels[index]!))).toBeLessThan(2e-3)
  })
})

test('gains of a family that measures something else are rescaled to typical gains', () => {
  const target = environmentOf('throughput', { depth: 4 })
  const other = {
    ...target,
    familyId: 'throughput-tokens',
    family: { ...target.family, metrics: [{ name: 'tokens_per_second', direction: 'maximize' as const }] as const },
    version: { ...target.version, id: 'other', familyId: 'throughput-tokens' },
  }
  const fast = candidateOf(target, 'Fuse the kernels.', { kernels: 'fused' })
  const records = [
    ...[0.01, -0.02, 0.01].map((gain, id) => recordWith(id, target, candidateOf(target, 'Other.', { depth: 3 }), gain)),
    ...[2000, -1000, 2000].map((gain, id) => recordWith(10 + id, other, fast, gain)),
  ]
  for (const forecaster of Object.values(forecasters)) {
    const [forecast] = forecaster(target, records, [fast], options)
    expect(Math.abs(forecast!.quantiles[0])).toBeLessThan(0.2)
    expect(Math.abs(forecast!.quantiles[4])).toBeLessThan(0.2)
  }
  expect(forecasters.neighbours(target, records, [fast], options)[0]!.quantiles[2]).toBeCloseTo(0.005, 3)
})
