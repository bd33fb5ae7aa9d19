/**
 * The forecaster that looks at no candidate: the quantiles of all gains so far, with five imaginary ones around zero as a
 * weak prior. What every other forecaster has to beat.
 */
import { quantileLevels } from '../experiment/record.ts'
import { quantile } from '../statistics/summary.ts'
import { defaultScale, gainEvidence, typicalGain } from './evidence.ts'
import { baseRate, endings } from './finishing.ts'
import type { PureForecaster } from './forecaster.ts'
import { mapQuantiles, standardQuantiles } from './quantiles.ts'

export const constant: PureForecaster = (environment, history, candidates) => {
  const evidence = gainEvidence(environment, history)
  const scale = typicalGain(evidence) ?? defaultScale
  const values = [...evidence.map(({ gain }) => gain), ...standardQuantiles.map(standard => scale * standard)]
  const forecast = {
    quantiles: mapQuantiles(index => quantile(values, quantileLevels[index]!)),
    finishes: baseRate(endings(history)),
    forecaster: 'constant',
    forecasterVersion: '1',
    recordIds: history.map(({ id }) => id).sort((first, second) => first - second),
  }
  return candidates.map(() => forecast)
}
