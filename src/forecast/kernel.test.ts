import { expect, test } from 'vitest'
import type { Environment } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { cholesky } from '../statistics/cholesky.ts'
import { coverage } from '../statistics/pinball.ts'
import { type Random, seededRandom } from '../statistics/random.ts'
import { spearman } from '../statistics/ranks.ts'
import { mean } from '../statistics/summary.ts'
import { forecasters } from './forecaster.ts'
import { compareSubjects, gainCovariance } from './gain-kernel.ts'
import { guarded } from './leak-guard.ts'
import { candidateOf, environmentOf, literalsOf, recordWith } from './planted/records.ts'
import { plantedRecords, recipeEnvironment } from './planted/response-surface.ts'

const options = { seed: 1 }

function medianOf(
  name: 'kernel' | 'neighbours',
  environment: Environment,
  history: readonly ExperimentRecord[],
  asked: ExperimentRecord | ReturnType<typeof candidateOf>,
) {
  return forecasters[name](environment, history, [asked], options)[0]!.quantiles[2]
}

/** Records of a recipe that trains with AdamW, as they could have been: Muon helps, most of the rest does not. */
const olmo = environmentOf('olmo', {
  optimiser: 'adamw',
  learningRate: 0.002,
  schedule: 'cosine',
  activation: 'swiglu',
  warmup: 0.02,
  weightDecay: 0.1,
  queryKeyNorm: false,
  tied: true,
})
const olmoHistory = [
  {
    sentence: 'Train the matrices with Muon instead of AdamW for better conditioned updates.',
    overrides: { optimiser: 'muon' },
    tags: ['optimiser'],
    gain: 0.018,
  },
  {
    sentence: 'Muon for the matrices together with QK norm.',
    overrides: { optimiser: 'muon', queryKeyNorm: true },
    tags: ['optimiser', 'normalisation'],
    gain: 0.024,
  },
  {
    sentence: 'Muon for the matrices with a linear schedule.',
    overrides: { optimiser: 'muon', schedule: 'linear' },
    tags: ['optimiser', 'schedule'],
    gain: 0.019,
  },
  {
    sentence: 'Lion, which needs less memory than AdamW.',
    overrides: { optimiser: 'lion' },
    tags: ['optimiser'],
    gain: -0.012,
  },
  {
    sentence: 'Raise the learning rate to learn faster.',
    overrides: { learningRate: 0.004 },
    tags: ['learning-rate'],
    gain: 0.004,
  },
  {
    sentence: 'Raise the learning rate a lot.',
    overrides: { learningRate: 0.016 },
    tags: ['learning-rate'],
    gain: -0.31,
  },
  {
    sentence: 'Lower the learning rate for stability.',
    overrides: { learningRate: 0.001 },
    tags: ['learning-rate'],
    gain: -0.021,
  },
  { sentence: 'Normalise queries and keys.', overrides: { queryKeyNorm: true }, tags: ['normalisation'], gain: 0.006 },
  {
    sentence: 'Squared ReLU in the feed-forward layers.',
    overrides: { activation: 'relu2' },
    tags: ['architecture'],
    gain: 0.002,
  },
  {
    sentence: 'Plain GELU in the feed-forward layers.',
    overrides: { activation: 'gelu' },
    tags: ['architecture'],
    gain: -0.009,
  },
  {
    sentence: 'A linear schedule that ends at zero.',
    overrides: { schedule: 'linear' },
    tags: ['schedule'],
    gain: 0.003,
  },
  { sentence: 'A constant learning rate.', overrides: { schedule: 'constant' }, tags: ['schedule'], gain: -0.03 },
  { sentence: 'A longer warm-up.', overrides: { warmup: 0.1 }, tags: ['schedule'], gain: -0.004 },
  { sentence: 'No weight decay.', overrides: { weightDecay: 0 }, tags: ['regularisation'], gain: -0.005 },
  { sentence: 'Untie the head from the embedding.', overrides: { tied: false }, tags: ['architecture'], gain: 0.007 },
].map(({ sentence, overrides, tags, gain }, index) =>
  recordWith(index + 1, olmo, candidateOf(olmo, sentence, overrides, tags), gain, 0.003),
)

/** A recipe that already has Muon, ReLU squared, QK norm and an untied head. */
const nanochat = environmentOf('nanochat', {
  optimiser: 'muon',
  learningRate: 0.004,
  schedule: 'linear',
  activation: 'relu2',
  warmup: 0.02,
  weightDecay: 0,
  queryKeyNorm: true,
  tied: false,
})

test('what another recipe won by going to Muon is lost by leaving it, whatever the words say', () => {
  const leave = candidateOf(nanochat, 'Train the matrices with AdamW instead of Muon.', { optimiser: 'adamw' }, [
    'optimiser',
  ])
  expect(medianOf('neighbours', nanochat, olmoHistory, leave)).toBeGreaterThan(0.005)
  expect(medianOf('kernel', nanochat, olmoHistory, leave)).toBeLessThan(-0.005)
})

test('a variant of Muon is no gain where Muon is already there', () => {
  const variant = candidateOf(
    nanochat,
    'Train the matrices with a variant of Muon for better conditioned updates.',
    { optimiser: 'muon-variant' },
    ['optimiser'],
  )
  expect(medianOf('neighbours', nanochat, olmoHistory, variant)).toBeGreaterThan(0.005)
  expect(medianOf('kernel', nanochat, olmoHistory, variant)).toBeLessThan(0)
})

test('the same holds for options that the other recipe has and this one lacks', () => {
  const plain = environmentOf('plain', { ...(nanochat.version.reference.configuration as object), optimiser: 'adamw' })
  const go = candidateOf(plain, 'Use Muon.', { optimiser: 'muon' }, ['optimiser'])
  expect(medianOf('kernel', plain, olmoHistory, go)).toBeGreaterThan(0.005)
  const tie = candidateOf(nanochat, 'Tie the head to the embedding.', { tied: true }, ['architecture'])
  expect(medianOf('kernel', nanochat, olmoHistory, tie)).toBeLessThan(0)
})

test('values between known values are interpolated, on the axis of the option', () => {
  const environment = environmentOf('rates', { rate: 0.001 })
  const to = (rate: number) => candidateOf(environment, 'Change the rate.', { rate })
  const gainAt = (rate: number) => 0.02 - 0.01 * (Math.log(rate / 0.004) / Math.log(2)) ** 2 + 0.02
  const rates = [0.0003, 0.0005, 0.002, 0.004, 0.008, 0.016]
  const history = rates.map((rate, id) => recordWith(id, environment, to(rate), gainAt(rate) - gainAt(0.001)))
  const [low, between, best] = [0.0007, 0.003, 0.0055].map(rate => medianOf('kernel', environment, history, to(rate)))
  expect(low).toBeLessThan(0)
  expect(between).toBeGreaterThan(0.015)
  expect(best).toBeGreaterThan(0.015)
})

test('literals of a diff carry the direction from one file to another', () => {
  const before = environmentOf('repository', null, 'before')
  const after = environmentOf('repository', null, 'after')
  const lower = (file: string, from: number, to: number) =>
    literalsOf('change a constant', [{ option: `${file}:MATRIX_LR`, from, to }])
  const history = [
    recordWith(1, before, lower('train.py', 0.04, 0.02), -0.01),
    recordWith(2, before, lower('train.py', 0.04, 0.03), -0.005),
    recordWith(3, before, lower('train.py', 0.04, 0.05), 0.005),
    recordWith(4, before, literalsOf('change a constant', [{ option: 'train.py:DEPTH', from: 8, to: 9 }]), 0.001),
  ]
  expect(medianOf('kernel', after, history, lower('src/train.py', 0.04, 0.025))).toBeLessThan(-0.002)
  expect(medianOf('kernel', after, history, lower('src/train.py', 0.025, 0.04))).toBeGreaterThan(0.002)
})

test('where there are only words, words decide', () => {
  const environment = environmentOf('words', null)
  const history = [
    ['label smoothing 0.1', -0.02],
    ['stronger label smoothing', -0.03],
    ['label smoothing with warm-up', -0.02],
    ['rotary base frequency 200000', 0.01],
    ['rotary base frequency 50000', 0.012],
    ['longer rotary base', 0.011],
    ['dropout 0.1', -0.004],
  ].map(([sentence, gain], id) => recordWith(id, environment, literalsOf(sentence as string, []), gain as number))
  expect(medianOf('kernel', environment, history, literalsOf('rotary base 100000', []))).toBeGreaterThan(0.002)
  expect(medianOf('kernel', environment, history, literalsOf('label smoothing 0.2', []))).toBeLessThan(-0.005)
})

test('beyond 800 records it conditions on 800: those of the version, then the relevant ones', () => {
  const here = plantedRecords('olmo', 300, seededRandom(1))
  const there = plantedRecords('nanochat', 1500, seededRandom(2), 1000)
  const candidate = candidateOf(recipeEnvironment('olmo'), 'Train with Lion.', { optimiser: 'lion' }, ['optimiser'])
  const [forecast] = forecasters.kernel(recipeEnvironment('olmo'), [...there, ...here], [candidate], options)
  expect(forecast!.recordIds).toHaveLength(800)
  const used = new Set(forecast!.recordIds)
  expect(here.every(({ id }) => used.has(id))).toBe(true)
  const isLion = ({ changes }: ExperimentRecord) => changes.some(({ to }) => to === 'lion')
  const lions = there.filter(isLion)
  expect(lions.length).toBeGreaterThan(20)
  expect(lions.every(({ id }) => used.has(id))).toBe(true)
})

test('ranks a surface with curves, interactions and disasters far better than words do, from half of its records', () => {
  const scores = { kernel: [] as number[], neighbours: [] as number[], ridge: [] as number[] }
  for (const seed of [1, 2, 3]) {
    const records = seededRandom(seed).shuffle(plantedRecords('olmo', 90, seededRandom(seed)))
    const [history, tested] = [records.slice(0, 45), records.slice(45).filter(({ measured }) => measured !== null)]
    for (const name of ['kernel', 'neighbours', 'ridge'] as const) {
      const forecasts = forecasters[name](recipeEnvironment('olmo'), history, tested, options)
      const correlation = spearman(
        forecasts.map(({ quantiles }) => quantiles[2]),
        tested.map(({ measured }) => measured!.gain),
      )
      scores[name].push(correlation!)
    }
  }
  expect(mean(scores.kernel)).toBeGreaterThan(0.7)
  expect(mean(scores.kernel)).toBeGreaterThan(mean(scores.neighbours) + 0.1)
  expect(mean(scores.kernel)).toBeGreaterThan(mean(scores.ridge) + 0.1)
})

test('its 80% interval holds about 80% of gains that were drawn from the model', () => {
  const environment = recipeEnvironment('olmo')
  const inside: boolean[] = []
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const random = seededRandom(seed)
    const records = drawFromModel(
      plantedRecords('olmo', 100, random).map(record => ({ ...record, outcome: 'finished' })),
      random,
    )
    const [history, tested] = [records.slice(0, 60), records.slice(60)]
    const forecasts = forecasters.kernel(environment, history, tested, options)
    forecasts.forEach(({ quantiles }, index) => {
      const { gain } = tested[index]!.measured!
      inside.push(coverage([gain], [quantiles[0]], [quantiles[4]]) === 1)
    })
  }
  const share = mean(inside.map(Number))
  // 240 draws: the standard error is 2.6%, more where forecasts of one history err together.
  expect(share).toBeGreaterThan(0.72)
  expect(share).toBeLessThan(0.88)
})

/** The same interventions with gains that the kernel itself would expect, of a size of about 0.01. */
function drawFromModel(records: readonly ExperimentRecord[], random: Random): ExperimentRecord[] {
  const size = records.length
  const parameters = {
    additive: 0.5,
    interaction: 0.1,
    departure: 0.3,
    words: 0.1,
    tags: 0.1,
    mean: 0.1,
    length: 1.5,
    remainder: 0.6,
    family: 0.8,
  }
  const covariance = gainCovariance(compareSubjects(records, size), parameters)
  for (let i = 0; i < size; i++) covariance[i * size + i]! += 1e-9
  const { lower } = cholesky(covariance, size)!
  const white = records.map(() => random.normal())
  return records.map((record, row) => {
    const surface = white.reduce((sum, value, column) => sum + lower[row * size + column]! * value, 0)
    const gain = 0.01 * Math.sinh(surface + Math.sqrt(0.1) * random.normal())
    return { ...record, measured: { gain, standardError: null, degreesOfFreedom: 0, probabilityBetter: null } }
  })
}

test('the guarded kernel still knows the direction from what is no near-duplicate', async () => {
  const leave = candidateOf(nanochat, 'Train the matrices with AdamW instead of Muon.', { optimiser: 'adamw' }, [
    'optimiser',
  ])
  const [forecast] = await guarded(forecasters.kernel)(nanochat, olmoHistory, [leave], options)
  expect(forecast!.recordIds).not.toContain(1)
  expect(forecast!.recordIds).toContain(2)
  expect(forecast!.quantiles[2]).toBeLessThan(0)
})
