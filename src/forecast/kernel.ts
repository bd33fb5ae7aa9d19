/**
 * The forecaster `kernel`: a Gaussian process over changes of a recipe (`gain-kernel.ts`), its hyper-parameters by
 * marginal likelihood with weak priors. It sees what text similarity cannot: the value an option has in the reference.
 */
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { median } from '../statistics/summary.ts'
import { finishedShare, isMeasured, type MeasuredRecord } from './evidence.ts'
import { endings } from './finishing.ts'
import type { PureForecaster } from './forecaster.ts'
import { compareSubjects, gainCovariance, type KernelSubject } from './gain-kernel.ts'
import { bendSlope, familyScales, unbendGain } from './gain-transform.ts'
import { finishingByKernel } from './kernel-finishing.ts'
import { conditionOn, type FitEffort, fitParameters, type Observation } from './kernel-parameters.ts'
import { mapQuantiles, standardQuantiles } from './quantiles.ts'
import { relevantRecords } from './relevant-records.ts'

export interface KernelEffort extends FitEffort {
  /** Records that a forecast conditions on. More cost more than they tell: the factorisation grows with the cube. */
  readonly mostRecords: number
}

export function gainProcess(effort: KernelEffort): PureForecaster {
  return (environment, history, candidates, { seed }) => {
    const records = relevantRecords(environment, history.filter(isInformative), candidates, effort.mostRecords)
    const scales = familyScales(environment, records)
    const measured = records.filter(isMeasured)
    const observations = measured.map(record => observe(record, scales.get(record.environment.familyId)!))
    const fitted = fitParameters(measured, observations, effort, seed)

    const ended = endings(records)
    const known: ExperimentRecord[] = [...measured, ...records.filter(record => !isMeasured(record))]
    const subjects: KernelSubject[] = [...known, ...candidates.map(candidate => ({ ...candidate, environment }))]
    const covariance = gainCovariance(compareSubjects(subjects, known.length), fitted.parameters)
    const size = subjects.length
    const among = new Float64Array(measured.length ** 2)
    for (let i = 0; i < measured.length; i++) {
      among.set(covariance.subarray(i * size, i * size + measured.length), i * measured.length)
    }
    const process = conditionOn(among, observations, fitted)
    const { noise, bend } = fitted
    const scale = scales.get(environment.familyId)!
    const typicalError = observations.length === 0 ? 0 : median(observations.map(({ error }) => error))
    const positionOf = new Map(known.map((record, position) => [record, position]))
    const positions = ended.map(({ record }) => positionOf.get(record)!)
    const finishes = finishingByKernel(covariance, size, ended, positions)
    const recordIds = records.map(({ id }) => id)

    return candidates.map((_, index): Forecast => {
      const row = (known.length + index) * size
      const self = covariance[row + known.length + index]!
      const { mean, variance } = process.predict(covariance.slice(row, row + measured.length), self)
      const deviation = Math.sqrt(variance + noise + (typicalError * bendSlope(unbendGain(mean, bend), bend)) ** 2)
      return {
        quantiles: mapQuantiles(level => scale * unbendGain(mean + deviation * standardQuantiles[level]!, bend)),
        finishes: finishes(known.length + index),
        forecaster: 'kernel',
        forecasterVersion: '1',
        recordIds,
      }
    })
  }
}

export const kernel: PureForecaster = gainProcess({ mostRecords: 800, mostFitted: 160, starts: 30, steps: 100 })

function observe({ measured }: MeasuredRecord, scale: number): Observation {
  const { gain, standardError } = measured
  const error = standardError === null || !Number.isFinite(standardError) ? 0 : standardError
  return { scaled: gain / scale, error: error / scale }
}

/** What is still open, or failed for reasons outside the idea, says nothing. */
function isInformative(record: ExperimentRecord): boolean {
  return isMeasured(record) || finishedShare(record) !== null
}
