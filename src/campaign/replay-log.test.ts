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

test('whoever knows all gains is the oracle, against whatever references they are', async () => {
  const random = seededRandom(4)
  const series = Array.from({ length: 40 }, (_, index) => {
    const reference = 2 - 0.2 * (index % 3)
    return against(index + 1, `version ${index % 3}`, reference, reference - 0.1 * random.normal())
  })
  expect(await replayLog(oracle, series, options, seededRandom(2))).toEqual(replayLogByOracle(series, options))
})

test('gains against different references are put on one scale: the metric', () => {
  const series = [against(1, 'first', 2, 1.9), against(2, 'second', 1.9, 1.95), against(3, 'second', 1.9, 1.6)]
  expect(overBeginning(series)).toEqual([0.1, 0.05, 0.4])
  // The beginning is what was first in time, in whatever order they are replayed.
  expect(gainsOverBeginning(series.toReversed()).get(3)).toBeCloseTo(0.4, 9)
})

test('what we measured ourselves, on another machine, is put on the scale of the log', () => {
  const log = against(1, 'first', 2, 1.9)
  const [own, later] = [against(2, 'first', 2.5, 2.4, 0), against(3, 'second', 2.4, 2.2, 0)]
  expect(overBeginning([log, own, later])).toEqual([0.1, 0.1, 0.3])
  // Runs of both kinds in one record do not tell what its reference measured.
  const both = { ...own, runs: [...own.runs, ...against(2, 'first', 2, 1.7).runs] }
  expect(overBeginning([both, log, own, later])).toEqual([0.1, 0.1, 0.1, 0.3])
  expect(overBeginning([own, later])).toEqual([0.1, 0.3])
})

/** In the order of the records. */
function overBeginning(series: readonly ExperimentRecord[]): number[] {
  const gains = gainsOverBeginning(series.map((record, index) => ({ ...record, id: index })))
  return series.map((_, index) => Number(gains.get(index)!.toFixed(9)))
}

/** A record of one run, of a log unless its seed says that it is our own, on a version known by its label. */
function against(id: number, label: string, reference: number, value: number, seed = -1): ExperimentRecord {
  const environment = environmentOf('log', null, label)
  const run: Run = {
    id,
    versionId: '',
    interventionId: id,
    seed,
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
  }
  return {
    ...recordWith(id, environment, candidateOf(environment, `idea ${id}`, {}), reference - value),
    runs: [run],
  }
}
