/**
 * For tests: knows the outcomes of the records it is asked about, the best that a forecast can be.
 */
import type { ExperimentRecord, Quantiles } from '../../experiment/record.ts'
import type { PureForecaster } from '../forecaster.ts'

export const oracle: PureForecaster = (_environment, history, candidates) =>
  (candidates as readonly ExperimentRecord[]).map(({ measured, outcome }) => {
    const gain = measured?.gain ?? -1
    const quantiles: Quantiles = [gain, gain, gain, gain, gain]
    const finishes = outcome === 'finished' ? 1 : 0
    const recordIds = history.map(({ id }) => id)
    return { quantiles, finishes, forecaster: 'oracle', forecasterVersion: '1', recordIds }
  })
