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

/** What is said of a campaign of one round. */
function played(known: readonly Known[], rule: Parameters<typeof choose>[1]) {
  const { round, records } = roundOf(known, rule)
  return liveCalibration([round], new Map(records))
}

/** A round as it is stored, and the records of what it ran. */
function roundOf(known: readonly Known[], rule: Parameters<typeof choose>[1], firstId = 0) {
  const choices = choose(
    known.map(({ forecast }, index) => (rule.gated?.has(index) ? null : forecast)),
    rule,
  )
  const round = {
    campaignId: 1,
    round: 1,
    storedAt: '',
    dropped: [],
    candidates: known.map(({ forecast }, index) => ({
      interventionId: firstId + index,
      // Of what the gate holds back only what is drawn is asked about.
      forecast: rule.gated?.has(index) && choices[index]!.choice === 'passed-over' ? null : forecast,
      gated: rule.gated?.has(index) ? 'It is like what failed.' : null,
      ...choices[index]!,
    })),
  } as unknown as StoredRound
  const records = known.flatMap(({ gain }, index) =>
    choices[index]!.choice === 'passed-over' ? [] : [[firstId + index, recordOf(gain)] as const],
  )
  return { round, records }
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
  expect(truth.gaining.weighted.squaredError).toBeCloseTo(truth.gaining.asRun.brier, 12)
  for (const figure of ['said', 'happened', 'brier'] as const) {
    expect(truth.gaining.normalised[figure]).toBeCloseTo(truth.gaining.asRun[figure], 12)
  }

  const campaigns = Array.from(
    { length: 4000 },
    (_, seed) => played(known, { choose: 6, exploration: 0.4, random: seededRandom(seed), gated })!,
  )
  for (const event of ['finishing', 'gaining'] as const) {
    for (const figure of ['said', 'happened', 'squaredError'] as const) {
      const estimates = campaigns.map(each => each[event].weighted[figure])
      const error = Math.sqrt(variance(estimates) / estimates.length)
      expect(Math.abs(mean(estimates) - truth[event].weighted[figure]), `${event} ${figure}`).toBeLessThanOrEqual(
        4 * error + 1e-12,
      )
    }
    for (const { [event]: it } of campaigns) {
      for (const figure of [it.normalised.said, it.normalised.brier, ...it.normalised.interval]) {
        expect(figure).toBeGreaterThanOrEqual(0)
        expect(figure).toBeLessThanOrEqual(1)
      }
    }
    const spread = Math.sqrt(variance(campaigns.map(each => each[event].weighted.happened)))
    const told = Math.sqrt(mean(campaigns.map(each => each[event].weighted.happenedError ** 2)))
    // On the safe side: so many places vary less than as many candidates that are drawn each on its own.
    expect(told / spread, `${event}: error`).toBeGreaterThan(1)
    const covered = campaigns.filter(({ [event]: { normalised } }) => {
      const [low, high] = normalised.interval
      return low <= truth[event].asRun.happened && truth[event].asRun.happened <= high
    })
    expect(covered.length / campaigns.length, `${event}: interval`).toBeGreaterThan(0.93)
    const asRun = campaigns.map(each => each[event].asRun.brier)
    const error = Math.sqrt(variance(asRun) / asRun.length)
    expect(Math.abs(mean(asRun) - truth[event].weighted.squaredError), `${event} as run`).toBeGreaterThan(10 * error)
  }
  expect(mean(campaigns.map(({ effective }) => effective))).toBeLessThan(6)
})

test('a round that a budget cut short is left out: what it did not reach was not left to chance', () => {
  const rule = { choose: 6, exploration: 0.4, random: seededRandom(1) }
  const whole = roundOf(candidates(24, seededRandom('whole')), rule)
  const cut = roundOf(candidates(24, seededRandom('cut')), rule, 100)
  const records = new Map([...whole.records, ...cut.records.slice(0, 3)])
  const alone = liveCalibration([whole.round], records)!
  expect(alone).toMatchObject({ candidates: 24, measured: 6, partial: 0 })
  expect(liveCalibration([whole.round, cut.round], records)).toEqual({ ...alone, partial: 1 })
  expect(liveCalibration([cut.round], records)).toBeNull()
  const all = new Map([...whole.records, ...cut.records])
  expect(liveCalibration([whole.round, cut.round], all)).toMatchObject({ candidates: 48, measured: 12, partial: 0 })
})

test('without exploration what is passed over cannot be spoken for, and is counted', () => {
  const known = candidates(10, seededRandom('few'))
  const rule = { choose: 6, exploration: 0, random: seededRandom(1), gated: new Set([0]) }
  expect(played(known, rule)).toMatchObject({ candidates: 6, unreachable: 4, measured: 6 })
})
