import { expect, test } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import { type Forecaster, forecasters } from './forecaster.ts'
import { judge } from './judge.ts'
import { plantedRecords, recipeEnvironment } from './planted/response-surface.ts'

test('across environments no forecast may be conditioned on its near-duplicates, or on anything tested', async () => {
  const tested = plantedRecords('nanochat', 30, seededRandom(1))
  const history = plantedRecords('olmo', 30, seededRandom(2), 1001)
  const part = { environment: recipeEnvironment('nanochat'), history, tested, guarded: true }
  const judged = await judge(forecasters.neighbours, part, 1)
  const seenByAll = judged.filter(({ forecast }) => forecast.recordIds.length === history.length)
  expect(seenByAll.length).toBeLessThan(judged.length)
  const careless: Forecaster = (environment, _history, candidates, seed) =>
    forecasters.neighbours(environment, history, candidates, seed)
  await expect(judge(careless, part, 1)).rejects.toThrow(/was shown record \d+/)
  expect(await judge(careless, { ...part, guarded: false }, 1)).toHaveLength(tested.length)
  const peeking: Forecaster = (environment, _history, candidates, seed) =>
    forecasters.neighbours(environment, tested, candidates, seed)
  await expect(judge(peeking, part, 1)).rejects.toThrow(/was shown record \d+/)
})
