import { expect, test } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import { type Forecaster, forecasters } from './forecaster.ts'
import { judge } from './judge.ts'
import { plantedRecords, recipeEnvironment } from './planted/response-surface.ts'

test('across environments no forecast may be conditioned on its near-duplicates, or on anything tested', () => {
  const tested = plantedRecords('nanochat', 30, seededRandom(1))
  const history = plantedRecords('olmo', 30, seededRandom(2), 1001)
  const part = { environment: recipeEnvironment('nanochat'), history, tested, guarded: true }
  const judged = judge(forecasters.neighbours, part, 1)
  const seenByAll = judged.filter(({ forecast }) => forecast.recordIds.length === history.length)
  expect(seenByAll.length).toBeLessThan(judged.length)
  const careless: Forecaster = (environment, _history, candidates, seed) =>
    forecasters.neighbours(environment, history, candidates, seed)
  expect(() => judge(careless, part, 1)).toThrow(/was shown record \d+/)
  expect(judge(careless, { ...part, guarded: false }, 1)).toHaveLength(tested.length)
  const peeking: Forecaster = (environment, _history, candidates, seed) =>
    forecasters.neighbours(environment, tested, candidates, seed)
  expect(() => judge(peeking, part, 1)).toThrow(/was shown record \d+/)
})
