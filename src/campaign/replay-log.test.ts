import { expect, test } from 'vitest'
import type { Run } from '../experiment/intervention.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { constant } from '../forecast/constant.ts'
import { oracle } from '../forecast/planted/oracle.ts'
import { candidateOf, environmentOf, recordWith } from '../forecast/planted/records.ts'
import { plantedRecords } from '../forecast/planted/response-surface.ts'
import { seededRandom } from '../statistics/random.ts'
import { gainsOverBeginning, replayLog, replayLogAtRandom, replayLogByOracle } from './replay-log.ts'

const options = { offered: 10, chosen: 2, seed: 1 }
const records = plantedRecords('olmo', 60, seededRandom(1))

test('an oracle is 100 %, nobody is above it, and a forecaster that looks at nothing is like random choice', async () => {
  const best = replayLogByOracle(records, options)
  expect(best.naulc).toBe(1)
  expect(best.curve).toHaveLength(12)
  expect(await replayLog(oracle, records, options, seededRandom(2))).toEqual(best)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const random = seededRandom(3)
  const blind: number[] = []
  for (let repeat = 0; repeat < 100; repeat++) {
    blind.push((await replayLog(constant, records, options, random.fork(repeat))).naulc)
  }
  const drawn = Array.from({ length: 100 }, () => replayLogAtRandom(records, options, random).naulc)
  expect(Math.max(...blind)).toBeLessThanOrEqual(1)
  // The mean of 100 of them has a standard error of about 0.02.
  expect(Math.abs(mean(blind) - mean(drawn))).toBeLessThan(0.1)
})

test('gains against different references are put on one scale: the metric', () => {
  const run = (id: number, value: number): Run => ({
    id,
    versionId: '',
    interventionId: id,
    seed: -1,
    attempt: 0,
    outcome: {
      kind: 'finished',
      reason: null,
      metrics: { val_bpb: value },
      exitCode: null,
      startedAt: null,
      finishedAt: null,
      seconds: null,
      cost: null,
    },
  })
  const against = (id: number, label: string, reference: number, value: number): ExperimentRecord => {
    const environment = environmentOf('log', null, label)
    return {
      ...recordWith(id, environment, candidateOf(environment, `idea ${id}`, {}), reference - value),
      runs: [run(id, value)],
    }
  }
  const series = [against(1, 'first', 2, 1.9), against(2, 'second', 1.9, 1.95), against(3, 'second', 1.9, 1.6)]
  const gains = [...gainsOverBeginning(series).values()]
  expect(gains.map(gain => Number(gain.toFixed(9)))).toEqual([0.1, 0.05, 0.4])
})
