import { expect, test } from 'vitest'
import type { OutcomeKind, Run } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import { forecasters } from './forecaster.ts'
import { pastForecasts } from './past-forecasts.ts'
import { candidateOf, environmentOf, recordWith } from './planted/records.ts'
import { wordSeries } from './planted/word-series.ts'

const options = { seed: 1 }
const { stack, kernel, recent, constant } = forecasters
const quantiles = (forecasts: readonly Forecast[]) => forecasts.map(forecast => forecast.quantiles)

/** A series whose gains are all noise around a level that drifts far: only what was last is worth knowing. */
function drifting(count: number): ExperimentRecord[] {
  const environment = environmentOf('drifting', {})
  const random = seededRandom(5)
  return Array.from({ length: count }, (_, index) =>
    recordWith(
      index + 1,
      environment,
      candidateOf(environment, 'again', {}),
      Math.sin(index / 15) + 0.02 * random.normal(),
    ),
  )
}

test('with little past it is the kernel', () => {
  const records = wordSeries('words', 30, { signal: 1, fading: 40 }, seededRandom(1))
  const [history, asked] = [records.slice(0, 18), records.slice(18)]
  const { environment } = records[0]!
  expect(quantiles(stack(environment, history, asked, options))).toEqual(
    quantiles(kernel(environment, history, asked, options)),
  )
  expect(stack(environment, history, asked, options)[0]!.forecaster).toBe('stack')
})

test('it goes with whoever did well on this environment’s past', () => {
  const records = drifting(70)
  const { environment } = records[0]!
  const asked = records.slice(66)
  const history = records.slice(0, 66)
  const [together, near, far] = [stack, recent, constant].map(
    forecaster => forecaster(environment, history, asked, options)[0]!.quantiles[2],
  )
  expect(Math.abs(together! - near!)).toBeLessThan(Math.abs(together! - far!))
})

test('the past is forecast from what came before it, and asked once', () => {
  const records = drifting(40)
  const { environment } = records[0]!
  const calls: { known: number; asked: number }[] = []
  const members = {
    noting: (...[where, history, candidates, seed]: Parameters<typeof constant>) => {
      const ids = (candidates as readonly ExperimentRecord[]).map(({ id }) => id)
      calls.push({ known: history.length, asked: ids.length })
      expect(Math.max(...history.map(({ id }) => id))).toBeLessThan(Math.min(...ids))
      return constant(where, history, candidates, seed)
    },
  }
  const past = pastForecasts(members, environment, records, 1)
  expect(past.map(({ record }) => record.id)).toEqual(records.slice(8).map(({ id }) => id))
  expect(calls.map(({ known }) => known)).toEqual([8, 12, 16, 20, 26, 33])
  const before = calls.length
  pastForecasts(members, environment, records, 1)
  expect(calls).toHaveLength(before)
  pastForecasts(members, environment, records, 2)
  expect(calls).toHaveLength(2 * before)
})

test('it is a function of its arguments: what is remembered of a past is of that past alone', () => {
  const records = drifting(40)
  const { environment } = records[0]!
  const asked = [candidateOf(environment, 'again', {})]
  const once = stack(environment, records, asked, options)
  const otherwise = (change: (record: ExperimentRecord) => Partial<ExperimentRecord>) =>
    records.map((record, index) => (index < 8 ? { ...record, ...change(record) } : record))
  for (const history of [
    otherwise(({ measured }) => ({ measured: { ...measured!, standardError: 2 } })),
    otherwise(() => ({ runs: [ended(0, 'finished'), ended(1, 'crashed'), ended(2, 'crashed')] })),
  ]) {
    const again = stack(environment, history, asked, options)
    expect(again).toEqual(stack(environment, structuredClone(history), asked, options))
    expect(again).not.toEqual(once)
  }
})

test('of a long past, the last eight moments are asked, for at most eight records each, from the two hundred before', () => {
  const records = drifting(400)
  const past = pastForecasts({ constant }, records[0]!.environment, records, 1)
  const moments = [...Map.groupBy(past, ({ by }) => by.constant.recordIds.at(-1)!)]
  expect(moments.map(([origin, asked]) => [origin, asked.length])).toEqual(
    [54, 70, 91, 118, 153, 198, 257, 334].map(origin => [origin, 8]),
  )
  for (const [origin, asked] of moments) {
    expect(asked[0]!.record.id).toBe(origin + 1)
    expect(asked[0]!.by.constant.recordIds).toHaveLength(Math.min(origin, 200))
  }
})

function ended(seed: number, kind: OutcomeKind): Run {
  const nothing = { reason: null, exitCode: null, startedAt: null, finishedAt: null, seconds: null, cost: null }
  return { id: seed, versionId: 'v', interventionId: 1, seed, attempt: 0, outcome: { kind, metrics: {}, ...nothing } }
}
