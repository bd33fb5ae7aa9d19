/**
 * The forecaster that expects more of the same: the mean of the last ten gains, whatever the candidate. Catches what
 * `constant` misses: that gains get rarer as a reference improves.
 */
import { mean } from '../statistics/summary.ts'
import { defaultScale, gainEvidence, typicalGain } from './evidence.ts'
import { baseRate, endings } from './finishing.ts'
import type { PureForecaster } from './forecaster.ts'
import { normalQuantiles } from './quantiles.ts'

const remembered = 10

export const recent: PureForecaster = (environment, history, candidates) => {
  const evidence = gainEvidence(environment, history)
  const scale = typicalGain(evidence) ?? defaultScale
  const gains = evidence.slice(-remembered).map(({ gain }) => gain)
  const centre = gains.length === 0 ? 0 : mean(gains)
  // The typical size of all gains counts as one more deviation, so that one record, or ten alike, leave some doubt.
  const squares = gains.reduce((sum, gain) => sum + (gain - centre) ** 2, scale ** 2)
  const deviation = Math.sqrt((squares / Math.max(1, gains.length)) * (1 + 1 / Math.max(1, gains.length)))
  const forecast = {
    quantiles: normalQuantiles(centre, deviation),
    finishes: baseRate(endings(history)),
    forecaster: 'recent',
    forecasterVersion: '1',
    recordIds: history.map(({ id }) => id),
  }
  return candidates.map(() => forecast)
}
