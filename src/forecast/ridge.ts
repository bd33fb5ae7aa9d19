/**
 * The forecaster `ridge`: a linear regression of the gain on the TF-IDF vector of the intervention. Adds up what words
 * are worth, and knows nothing of what the reference has.
 */
import type { Forecast } from '../experiment/record.ts'
import { fitSparseRidge } from '../statistics/ridge.ts'
import { cosine, fitTfIdf, type SparseVector } from '../text/tfidf.ts'
import { defaultScale, type GainEvidence, gainEvidence, typicalGain } from './evidence.ts'
import { endings, finishingProbability } from './finishing.ts'
import type { PureForecaster } from './forecaster.ts'
import { interventionText } from './intervention-text.ts'
import { normalQuantiles } from './quantiles.ts'
import { inOrder } from './relevant-records.ts'

/** The usual penalty is 1, scikit-learn's default. */
export function ridgeRegression(penalty: number): PureForecaster {
  return (environment, history, candidates) => {
    const records = inOrder(history)
    const evidence = gainEvidence(environment, records)
    const model = fitTfIdf(
      records.map(({ intervention, changes }) => interventionText(intervention, changes)),
      { bigrams: true },
    )
    const vectors = new Map(
      records.map(record => [record, model.transform(interventionText(record.intervention, record.changes))]),
    )
    const regress = (chosen: readonly GainEvidence[]): ((vector: SparseVector) => number) => {
      if (chosen.length === 0) return () => 0
      const rows = chosen.map(({ record }) => vectors.get(record)!)
      const gains = chosen.map(({ gain }) => gain)
      return fitSparseRidge(rows, model.size, gains, penalty).predict
    }
    const predict = regress(evidence)
    const ended = endings(records)
    const recordIds = records.map(({ id }) => id)
    const deviation = typicalError(evidence, regress, ({ record }) => vectors.get(record)!)
    return candidates.map((candidate): Forecast => {
      const vector = model.transform(interventionText(candidate.intervention, candidate.changes))
      const resemblance = ended.map(({ record }) => cosine(vector, vectors.get(record)!) ** 2)
      return {
        quantiles: normalQuantiles(predict(vector), deviation),
        finishes: finishingProbability(ended, resemblance),
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
