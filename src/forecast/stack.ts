/**
 * The forecaster `stack`: the others together, weighted by how each did on this environment's past (stacking, Wolpert 1992; of quantiles,
 * the weighted mean of each, as Vincent 1912 averages distributions). With little past it is the kernel.
 */
import { type Forecast, quantileLevels } from '../experiment/record.ts'
import { meanPinballLoss } from '../statistics/pinball.ts'
import { simplexWeights } from '../statistics/simplex-weights.ts'
import { mean, median } from '../statistics/summary.ts'
import { constant } from './constant.ts'
import { endingsOf } from './evidence.ts'
import type { PureForecaster } from './forecaster.ts'
import { gainProcess, kernel } from './kernel.ts'
import { neighbours } from './neighbours.ts'
import { mostKnown, type PastForecast, pastForecasts } from './past-forecasts.ts'
import { mapQuantiles } from './quantiles.ts'
import { recent } from './recent.ts'
import { inOrder, relevantRecords } from './relevant-records.ts'
import { ridge } from './ridge.ts'

const members = { constant, recent, neighbours, ridge, kernel } satisfies Record<string, PureForecaster>
type Member = keyof typeof members
const names = Object.keys(members) as Member[]

/** The kernel of the past takes less trouble: weights come out alike, and it is asked at every moment. */
const pastMembers: typeof members = {
  ...members,
  kernel: gainProcess({ mostRecords: mostKnown, mostFitted: 48, starts: 15, steps: 50 }),
}

/** Of a longer history, those that compare records with candidates get so many of the most relevant. */
const mostCompared = 3_000
const comparing = new Set<Member>(['neighbours', 'ridge', 'kernel'])

/**
 * Believed before anything was seen: what has been best so far, and what cannot be far off. Chosen with the two numbers below on planted
 * series, from which every log that a claim is made about was kept apart.
 */
const prior: Readonly<Record<Member, number>> = {
  constant: 0.45,
  recent: 0.1 / 3,
  neighbours: 0.1 / 3,
  ridge: 0.1 / 3,
  kernel: 0.45,
}
const believed = names.map(name => prior[name])

/** As many past records as the prior is worth. */
const priorRecords = 3

/** A past record counts for no more than this many typical ones: a disaster that nobody foresaw says little about who foresees. */
const mostTypical = 6

/** Fewer past forecasts with a gain than this say nothing yet. */
const enough = 16

export const stack: PureForecaster = (environment, unordered, candidates, options) => {
  const history = inOrder(unordered)
  const past = pastForecasts(pastMembers, environment, history, options.seed)
  const [gains, finishing] = [gainWeights(past), finishingWeights(past)]
  if (gains === null) return kernel(environment, history, candidates, options).map(named)
  const relevant = relevantRecords(environment, history, candidates, mostCompared)
  const answers = names.map(name =>
    members[name](environment, comparing.has(name) ? relevant : history, candidates, options),
  )
  // A member tells all candidates from the same records.
  const shown = answers.flatMap(([first]) => first?.recordIds ?? [])
  const recordIds = [...new Set(shown)].sort((first, second) => first - second)
  return candidates.map((_, index): Forecast => {
    const forecasts = answers.map(answer => answer[index]!)
    return named({
      ...forecasts[0]!,
      quantiles: mapQuantiles(level =>
        weighted(
          gains,
          forecasts.map(({ quantiles }) => quantiles[level]!),
        ),
      ),
      finishes: Math.min(
        1,
        weighted(
          finishing,
          forecasts.map(({ finishes }) => finishes),
        ),
      ),
      recordIds,
    })
  })
}

function named(forecast: Forecast): Forecast {
  return { ...forecast, forecaster: 'stack', forecasterVersion: '2' }
}

/** In the order of `names`, by the pinball loss of the combined quantiles; null with too little past. */
function gainWeights(past: readonly PastForecast<Member>[]): number[] | null {
  const measured = past.flatMap(({ record, by }) =>
    record.measured === null ? [] : [{ gain: record.measured.gain, quantiles: names.map(name => by[name].quantiles) }],
  )
  if (measured.length < enough) return null
  const losses = measured.map(({ gain, quantiles }) => {
    return meanPinballLoss([gain], [quantiles[names.indexOf('constant')]!], quantileLevels)
  })
  const typical = median(losses)
  if (typical === 0) return null
  // By record and level, the quantiles of all members.
  const stated = measured.map(({ quantiles }) => quantileLevels.map((_, index) => quantiles.map(five => five[index]!)))
  return simplexWeights(believed, priorRecords, weights => {
    const slope = names.map(() => 0)
    measured.forEach(({ gain }, record) => {
      const capped = Math.min(1, (mostTypical * typical) / losses[record]!)
      // Forecasters that learn are better than they were: what is recent counts for more, evenly.
      const counts = (capped * 2 * (record + 1)) / (measured.length * typical * quantileLevels.length)
      quantileLevels.forEach((level, index) => {
        const at = stated[record]![index]!
        const steepness = counts * (gain > weighted(weights, at) ? -level : 1 - level)
        for (let member = 0; member < at.length; member++) slope[member]! += steepness * at[member]!
      })
    })
    return slope
  })
}

/** The same for the chance of finishing, by squared errors over runs beside those of stating the share that finished. */
function finishingWeights(past: readonly PastForecast<Member>[]): number[] {
  const runs = past.flatMap(({ record, by }) =>
    endingsOf(record).map(finished => ({ happened: Number(finished), chances: names.map(name => by[name].finishes) })),
  )
  // One run each way more: where all ended alike there is nothing to tell forecasters apart by.
  const share = mean([...runs.map(({ happened }) => happened), 0, 1])
  return simplexWeights(believed, priorRecords, weights => {
    const slope = names.map(() => 0)
    for (const { happened, chances } of runs) {
      const steepness = (2 * (weighted(weights, chances) - happened)) / (share * (1 - share))
      chances.forEach((chance, member) => {
        slope[member]! += steepness * chance
      })
    }
    return slope
  })
}

function weighted(weights: readonly number[], values: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * values[index]!, 0)
}
