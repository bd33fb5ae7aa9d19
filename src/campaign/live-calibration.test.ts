/** Calibration from what a campaign ran: without bias when weighted by the chances of its choices, biased when not. */
import { expect, test } from 'vitest'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { type Random, seededRandom } from '../statistics/random.ts'
import { mean, variance } from '../statistics/summary.ts'
import { choose } from './choose.ts'
import { liveCalibration } from './live-calibration.ts'

interface Known {
  readonly forecast: Forecast
  /** What running it would show; null fails. */
  readonly gain: number | null
}

/** Forecasts that know something, and believe in themselves too much. */
function candidates(count: number, random: Random): Known[] {
  return Array.from({ length: count }, () => {
    const gain = random.normal()
    const median = gain + 2 * random.normal()
    return {
      forecast: {
        quantiles: [median - 0.6, median - 0.3, median, median + 0.3, median + 0.6],
        finishes: 0.95,
        forecaster: 'test',
        forecasterVersion: '1',
        recordIds: [],
      },
      gain: random.uniform() < (median > 1 ? 0.5 : 0.9) ? gain : null,
    }
  })
}

/** A round as it is stored, and the records of what it ran. */
function played(known: readonly Known[], rule: Parameters<typeof choose>[1]) {
  const choices = choose(
    known.map(({ forecast }) => forecast),
    rule,
  )
  const round = {
    campaignId: 1,
    round: 1,
    storedAt: '',
    dropped: [],
    candidates: known.map(({ forecast }, index) => ({
      interventionId: index,
      forecast,
      gated: rule.gated?.has(index) ? 'It is like what failed.' : null,
      ...choices[index]!,
    })),
  } as unknown as StoredRound
  const records = known.flatMap(({ gain }, index) =>
    choices[index]!.choice === 'passed-over' ? [] : [[index, recordOf(gain)] as const],
  )
  return liveCalibration([round], new Map(records))
}

function recordOf(gain: number | null): ExperimentRecord {
  const finished = gain !== null
  return {
    outcome: finished ? 'finished' : 'crashed',
    verdict: finished ? 'inconclusive' : 'failed',
    measured: finished ? { gain, standardError: null, degreesOfFreedom: 0, probabilityBetter: null } : null,
  } as ExperimentRecord
}

test('over many campaigns the weighted shares and scores are those of all candidates; unweighted ones are not', () => {
  const known = candidates(24, seededRandom('candidates'))
  const gated = new Set([...known.keys()].filter(index => index % 3 === 0))
  // All of them run: nothing to weigh, nothing to estimate.
  const truth = played(known, { choose: 24, exploration: 0, random: seededRandom(1) })!
  expect(truth).toMatchObject({ candidates: 24, unreachable: 0, measured: 24 })
  expect(truth.gaining.weighted.brier).toBeCloseTo(truth.gaining.asRun.brier, 12)

  const campaigns = Array.from(
    { length: 4000 },
    (_, seed) => played(known, { choose: 6, exploration: 0.4, random: seededRandom(seed), gated })!,
  )
  for (const event of ['finishing', 'gaining'] as const) {
    for (const figure of ['said', 'happened', 'brier'] as const) {
      const estimates = campaigns.map(each => each[event].weighted[figure])
      const error = Math.sqrt(variance(estimates) / estimates.length)
      expect(Math.abs(mean(estimates) - truth[event].weighted[figure]), `${event} ${figure}`).toBeLessThanOrEqual(
        4 * error + 1e-12,
      )
    }
    const asRun = campaigns.map(each => each[event].asRun.brier)
    const error = Math.sqrt(variance(asRun) / asRun.length)
    expect(Math.abs(mean(asRun) - truth[event].weighted.brier), `${event} as run`).toBeGreaterThan(10 * error)
  }
  expect(mean(campaigns.map(({ effective }) => effective))).toBeLessThan(6)
})

test('without exploration what is passed over cannot be spoken for, and is counted', () => {
  const known = candidates(10, seededRandom('few'))
  const rule = { choose: 6, exploration: 0, random: seededRandom(1), gated: new Set([0]) }
  expect(played(known, rule)).toMatchObject({ candidates: 6, unreachable: 4, measured: 6 })
})
