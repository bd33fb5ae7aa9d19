import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ExperimentRecord } from '../experiment/record.ts'
import { finishingQuality, forecastQuality } from './forecast-quality.ts'
import { bestByRun, bestRecord, forecastPairs, gainFrame, gainInterval, isOutside } from './gain-series.ts'
import type { RunTime } from './report-data.ts'
import { sampleReport } from './sample-report.ts'
import { timeline, timeShares } from './time-spent.ts'

const seeds = fc.integer({ min: 1, max: 1000 })

test('the interval of a gain is Student’s: wide with few degrees of freedom, 1.96 standard errors with many', () => {
  const measured = { gain: 1, standardError: 0.1, degreesOfFreedom: 2, probabilityBetter: 0.99 }
  // scipy.stats.t.ppf(0.975, 2) = 4.302652729911275
  expect(gainInterval(measured)!.high).toBeCloseTo(1.43026527299113, 10)
  expect(gainInterval({ ...measured, degreesOfFreedom: 1e9 })!.high).toBeCloseTo(1 + 0.1959963985, 7)
  expect(gainInterval({ ...measured, standardError: null })).toBeNull()
  expect(gainInterval({ ...measured, degreesOfFreedom: 0 })).toBeNull()
})

test('the best gain never falls within a version, starts at zero, and counts every run', () => {
  fc.assert(
    fc.property(seeds, fc.boolean(), (seed, promoted) => {
      const { records } = sampleReport(seed, { promoted, records: 20, seeds: 3 })
      const series = bestByRun(records)
      expect(series.segments).toHaveLength(promoted ? 2 : 1)
      expect(series.lastRun).toBe(60)
      expect(series.points.length + series.failures.length).toBe(20)
      for (const { steps, versionId } of series.segments) {
        expect(steps[0]!.best).toBe(0)
        const bests = steps.map(({ best }) => best)
        expect(bests).toEqual(bests.toSorted((a, b) => a - b))
        const gains = records
          .filter(record => record.environment.version.id === versionId)
          .map(record => record.measured?.gain ?? 0)
        expect(steps.at(-1)!.best).toBe(Math.max(0, ...gains))
      }
    }),
  )
})

test('the best record is looked for at the newest version that has a gain', () => {
  const data = sampleReport(7, { promoted: true, records: 20 })
  const newest = data.lineage.at(-1)!.version.id
  expect(bestRecord(data)!.record.environment.version.id).toBe(newest)
  const older = data.records.filter(record => record.environment.version.id !== newest)
  expect(bestRecord({ ...data, records: older })!.gain).toBe(
    Math.max(...older.map(record => record.measured?.gain ?? -1)),
  )
  expect(bestRecord({ ...data, records: [] })).toBeNull()
})

test('a frame holds zero and nearly all gains, and one wild gain does not stretch it', () => {
  const gains = Array.from({ length: 40 }, (_, index) => (index - 20) / 1000)
  const calm = gainFrame(gains)
  const wild = gainFrame([...gains, -5])
  expect(isOutside(-5, wild)).toBe(true)
  expect(wild.high - wild.low).toBeLessThan(1.5 * (calm.high - calm.low))
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { maxLength: 30 }), values => {
      const frame = gainFrame(values)
      expect(frame.low).toBeLessThan(0)
      expect(frame.high).toBeGreaterThan(0)
      expect(values.filter(value => isOutside(value, frame)).length).toBeLessThanOrEqual(values.length / 2)
    }),
  )
})

test('forecasts that are exactly right rank perfectly, cover, and are off by nothing', () => {
  const data = sampleReport(3, { records: 20 })
  const forecasts = new Map(
    data.records.flatMap(record => {
      const gain = record.measured?.gain
      return gain === undefined
        ? []
        : [
            [
              record.id,
              { ...data.forecasts.get(record.id)!, quantiles: [gain, gain, gain, gain, gain] as const },
            ] as const,
          ]
    }),
  )
  const quality = forecastQuality(forecastPairs({ records: data.records, forecasts }))
  expect(quality).toMatchObject({ spearman: 1, inside: quality.pairs, meanAbsoluteError: 0 })
  expect(quality.spearmanInterval).toEqual({ low: 1, high: 1 })
})

test('rank correlation has the interval of Bonett and Wright, and none below ten pairs', () => {
  const pairs = forecastPairs(sampleReport(3, { records: 28, failures: 0 }))
  const { spearman: r, spearmanInterval } = forecastQuality(pairs)
  const half = 1.959963984540054 * Math.sqrt((1 + r! ** 2 / 2) / 25)
  expect(spearmanInterval!.low).toBeCloseTo(Math.tanh(Math.atanh(r!) - half), 12)
  expect(spearmanInterval!.high).toBeCloseTo(Math.tanh(Math.atanh(r!) + half), 12)
  expect(forecastQuality(pairs.slice(0, 9))).toMatchObject({ pairs: 9, spearman: null, spearmanInterval: null })
})

test('chances of finishing are compared only where something ended', () => {
  const data = sampleReport(4, { records: 10, failures: 0 })
  const running = data.records.map(
    (record, index): ExperimentRecord => (index < 4 ? { ...record, verdict: null } : record),
  )
  expect(finishingQuality(running, data.forecasts)).toMatchObject({ records: 6, finished: 6 })
  expect(finishingQuality([], data.forecasts)).toBeNull()
})

function ran(runId: number, start: number, seconds: number, more: Partial<RunTime> = {}): RunTime {
  const at = (offset: number) => new Date(Date.UTC(2026, 0, 1) + offset * 1000).toISOString()
  return {
    runId,
    recordId: runId,
    outcome: 'finished',
    startedAt: at(start),
    finishedAt: at(start + seconds),
    seconds,
    slot: null,
    ...more,
  }
}

test('time is shared out by what came of it, nothing lost and nothing twice', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { runs } = sampleReport(seed)
      const shares = timeShares(runs)
      expect(shares.reduce((sum, share) => sum + share.runs, 0)).toBe(runs.length)
      const total = runs.reduce((sum, run) => sum + run.seconds!, 0)
      expect(shares.reduce((sum, share) => sum + share.seconds, 0)).toBeCloseTo(total, 6)
    }),
  )
  const mixed = [
    ran(1, 0, 5, { recordId: null }),
    ran(2, 5, 7, { outcome: 'violated', seconds: null }),
    ran(3, 12, 1, { outcome: 'infrastructure', startedAt: null, seconds: null }),
    ran(4, 13, 1, { outcome: null, finishedAt: null, seconds: null }),
  ]
  expect(timeShares(mixed)).toEqual([
    { use: 'reference', seconds: 5, runs: 1, untimed: 0 },
    { use: 'failed', seconds: 7, runs: 1, untimed: 0 },
    { use: 'lost', seconds: 0, runs: 1, untimed: 1 },
    { use: 'running', seconds: 0, runs: 1, untimed: 1 },
  ])
})

test('no two runs of a lane overlap, durations are kept, and slots are lanes where they are known', () => {
  const some = fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 900 })), {
    minLength: 2,
    maxLength: 40,
  })
  fc.assert(
    fc.property(some, times => {
      const runs = times.map(([start, seconds], index) => ran(index, start, seconds, { slot: index % 3 }))
      const { placed, lanes, seconds } = timeline(runs)!
      expect(placed).toHaveLength(runs.length)
      for (const one of placed) {
        expect(one.lane).toBeLessThan(lanes)
        expect(one.finish).toBeLessThanOrEqual(seconds + 1e-6)
        expect(one.finish - one.start).toBeCloseTo(one.run.seconds!, 6)
        for (const other of placed) {
          if (other === one || other.lane !== one.lane) continue
          expect(one.finish <= other.start + 1e-6 || other.finish <= one.start + 1e-6).toBe(true)
        }
      }
    }),
    { numRuns: 40 },
  )
  const { runs } = sampleReport(2)
  for (const { run, lane } of timeline(runs)!.placed) expect(lane).toBe(run.slot)
})

test('a night between two evenings is cut out, a pause of minutes is not', () => {
  const night = timeline([ran(1, 0, 600), ran(2, 700, 600), ran(3, 60_000, 600)])!
  expect(night.cuts).toHaveLength(1)
  expect(night.cuts[0]!.idleSeconds).toBe(58_700)
  expect(night.seconds).toBeCloseTo(1300 + 30 + 600, 6)
  expect(timeline([ran(1, 0, 60)])).toBeNull()
})
