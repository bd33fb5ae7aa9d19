/**
 * The forecaster `ridge`: a linear regression of the gain on the TF-IDF vector of the intervention. Adds up what words
 * are worth, and knows nothing of what the reference has.
 */
import type { Forecast } from '../experiment/record.ts'
import { cosinesWith } from '../statistics/cosines.ts'
import { withoutEqualColumns } from '../statistics/equal-columns.ts'
import { fitSparseRidge } from '../statistics/ridge.ts'
import { type SparseVector, sparseDot } from '../statistics/sparse.ts'
import { defaultScale, type GainEvidence, gainEvidence, typicalGain } from './evidence.ts'
import { finishingByCosines } from './finishing.ts'
import type { PureForecaster } from './forecaster.ts'
import { normalQuantiles } from './quantiles.ts'
import { inOrder } from './relevant-records.ts'
import { wordVectors } from './word-vectors.ts'

/** The usual penalty is 1, scikit-learn's default. */
export function ridgeRegression(penalty: number): PureForecaster {
  return (environment, history, candidates) => {
    const records = inOrder(history)
    const evidence = gainEvidence(environment, records)
    const vectors = wordVectors(records)
    const fewer = withoutEqualColumns(vectors.ofRecords, vectors.size)
    const placeOf = new Map(records.map((record, place) => [record, place]))
    const vectorOf = ({ record }: GainEvidence) => fewer.rows[placeOf.get(record)!]!
    const regress = (chosen: readonly GainEvidence[]): ((vector: SparseVector) => number) => {
      if (chosen.length === 0) return () => 0
      const gains = chosen.map(({ gain }) => gain)
      return fitSparseRidge(chosen.map(vectorOf), vectors.size, gains, penalty).predict
    }
    const predict = regress(evidence)
    const deviation = typicalError(evidence, regress, vectorOf)
    const cosinesOf = cosinesWith(fewer.rows, vectors.size)
    const finishing = finishingByCosines(records)
    const recordIds = records.map(({ id }) => id)
    return candidates.map((candidate): Forecast => {
      const whole = vectors.of(candidate)
      const vector = fewer.of(whole)
      return {
        quantiles: normalQuantiles(predict(vector), deviation),
        finishes: finishing(cosinesOf(vector, Math.sqrt(sparseDot(whole, whole)))),
        forecaster: 'ridge',
        forecasterVersion: '1',
        recordIds,
      }
    })
  }
}

export const ridge: PureForecaster = ridgeRegression(1)

/** How far off each half of the records is when the other half predicts it. */
function typicalError(
  evidence: readonly GainEvidence[],
  regress: (chosen: readonly GainEvidence[]) => (vector: SparseVector) => number,
  vectorOf: (one: GainEvidence) => SparseVector,
): number {
  const scale = typicalGain(evidence) ?? defaultScale
  if (evidence.length < 8) return scale
  const halves = [0, 1].map(half => evidence.filter((_, index) => index % 2 === half))
  const errors = halves.flatMap((held, half) => {
    const predict = regress(halves[1 - half]!)
    return held.map(one => ({ gain: one.gain - predict(vectorOf(one)), standardError: null }))
  })
  return typicalGain(errors) ?? scale
}
