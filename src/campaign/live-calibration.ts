/**
 * How honest the forecasts of a campaign were about all its candidates, not only about those that it ran. What ran was chosen
 * for its forecast, so its mean flatters or slanders the forecaster; each choice had a known chance, and weighing by its
 * inverse sets that right. Pure.
 */
import { isEvidence } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { chanceOfGain } from '../forecast/chance-of-gain.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import {
  effectiveSize,
  intervalOfShare,
  normalisedMean,
  type Observed,
  populationError,
  populationMean,
} from '../statistics/inverse-probability.ts'
import { mean } from '../statistics/summary.ts'

/** Of an event: what forecasts said on average, how often it came, and the mean squared error of what they said. */
export interface Honesty {
  readonly said: number
  readonly happened: number
  readonly brier: number
}

export interface EventHonesty {
  /**
   * Over all candidates that could run, by inverse probability (Horvitz and Thompson): unbiased sums, of which those over few
   * candidates may lie above one. `squaredError` estimates the Brier score.
   */
  readonly weighted: {
    readonly said: number
    readonly happened: number
    readonly happenedError: number
    readonly squaredError: number
  }
  /** The same, normalised (Hájek): between zero and one, with a little bias. The interval of what happened holds in 95 cases of 100. */
  readonly normalised: Honesty & { readonly interval: readonly [low: number, high: number] }
  /** Over what ran, as it is: biased by the choice. */
  readonly asRun: Honesty
}

export interface LiveCalibration {
  /** Candidates with a chance above zero, each once in every round that it was in. */
  readonly candidates: number
  /** Without exploration the forecast decides alone, and nothing can be said of what it passes over. */
  readonly unreachable: number
  /** Chosen and measured. */
  readonly measured: number
  /**
   * Rounds that are left out, since something that was chosen in them is not measured: what a budget did not reach, or what broke for a reason
   * of its own, was not left out by a chance that is known.
   */
  readonly partial: number
  /** As precise as so many with equal chances. */
  readonly effective: number
  readonly finishing: EventHonesty
  /** Finishing with a gain above zero. */
  readonly gaining: EventHonesty
}

/** Of the rounds of which all that was chosen has been measured; null where there are none. */
export function liveCalibration(
  rounds: readonly StoredRound[],
  records: ReadonlyMap<number, ExperimentRecord>,
): LiveCalibration | null {
  const measured = (interventionId: number) => {
    const outcome = records.get(interventionId)?.outcome
    return outcome != null && isEvidence(outcome)
  }
  const whole = rounds.filter(({ candidates }) =>
    candidates.every(({ choice, interventionId }) => choice === 'passed-over' || measured(interventionId)),
  )
  const all = whole.flatMap(({ candidates }) => candidates)
  const reachable = all.filter(({ probability }) => probability > 0)
  const sampled = reachable.flatMap(({ choice, interventionId, forecast, probability }): Sampled[] => {
    // Its outcome may be known from another round: what was passed over in this one stands for nobody.
    if (choice === 'passed-over' || forecast === null) return []
    return [{ forecast, record: records.get(interventionId)!, probability }]
  })
  if (sampled.length === 0) return null
  // Of what the gate holds back a forecast may be made only once it is drawn, so those that were drawn stand for it.
  const said = reachable.flatMap(({ forecast, gated, choice, probability }) =>
    forecast === null || (gated !== null && choice === 'passed-over')
      ? []
      : [{ forecast, probability: gated === null ? 1 : probability }],
  )
  const population = { said, size: reachable.length }
  return {
    candidates: reachable.length,
    unreachable: all.length - reachable.length,
    measured: sampled.length,
    partial: rounds.length - whole.length,
    effective: effectiveSize(sampled),
    finishing: honestyOf(population, sampled, {
      chance: ({ finishes }) => finishes,
      came: ({ verdict }) => verdict !== 'failed',
    }),
    gaining: honestyOf(population, sampled, {
      chance: forecast => chanceOfGain(forecast),
      came: ({ measured }) => measured !== null && measured.gain > 0,
    }),
  }
}

interface Sampled {
  readonly forecast: Forecast
  readonly record: ExperimentRecord
  readonly probability: number
}

interface Population {
  readonly said: readonly { readonly forecast: Forecast; readonly probability: number }[]
  readonly size: number
}

function honestyOf(
  { said, size }: Population,
  sampled: readonly Sampled[],
  event: { chance(forecast: Forecast): number; came(record: ExperimentRecord): boolean },
): EventHonesty {
  const came = sampled.map(({ record, probability }) => ({ value: Number(event.came(record)), probability }))
  const squares = sampled.map(({ forecast, probability }, index) => ({
    value: (event.chance(forecast) - came[index]!.value) ** 2,
    probability,
  }))
  const chances = said.map(({ forecast, probability }) => ({ value: event.chance(forecast), probability }))
  const plainMean = (observed: readonly Observed[]) => mean(observed.map(({ value }) => value))
  const happened = normalisedMean(came)
  return {
    weighted: {
      said: populationMean(chances, size),
      happened: populationMean(came, size),
      happenedError: populationError(came, size),
      squaredError: populationMean(squares, size),
    },
    normalised: {
      said: normalisedMean(chances),
      happened,
      brier: normalisedMean(squares),
      interval: intervalOfShare(happened, effectiveSize(sampled)),
    },
    asRun: {
      said: mean(sampled.map(({ forecast }) => event.chance(forecast))),
      happened: plainMean(came),
      brier: plainMean(squares),
    },
  }
}
