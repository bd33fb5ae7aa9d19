import { expect, test } from 'vitest'
import { forecasters } from '../forecast/forecaster.ts'
import { oracle } from '../forecast/planted/oracle.ts'
import { plantedRecords, recipeEnvironment } from '../forecast/planted/response-surface.ts'
import { seededRandom } from '../statistics/random.ts'
import { replay, replayOracle } from './replay.ts'

test('the replayed loop runs three of each round, and an oracle’s is the best there is', async () => {
  for (const recipe of ['olmo', 'nanochat'] as const) {
    const known = { environment: recipeEnvironment(recipe), records: plantedRecords(recipe, 40, seededRandom(1)) }
    const best = replayOracle(known, 7)
    expect(best.naulc).toBe(1)
    const results = await Promise.all(
      [oracle, forecasters.constant, forecasters.ridge].map(forecaster => replay(forecaster, known, [], 7)),
    )
    expect(results[0]).toEqual(best)
    for (const result of results) {
      expect(result.naulc).toBeLessThanOrEqual(1)
      expect(result.best).toBeLessThanOrEqual(best.best)
    }
  }
})
