/**
 * The forecaster `neighbours`: the mean gain of the five records whose intervention reads most like the candidate, weighed
 * by the cosine of their TF-IDF vectors. Knows words and nothing of what the reference has.
 */
import type { Forecast } from '../experiment/record.ts'
import { cosine, fitTfIdf } from '../text/tfidf.ts'
import { defaultScale, gainEvidence, typicalGain } from './evidence.ts'
import { endings, finishingProbability } from './finishing.ts'
import type { PureForecaster } from './forecaster.ts'
import { interventionText } from './intervention-text.ts'
import { normalQuantiles } from './quantiles.ts'
import { inOrder } from './relevant-records.ts'

/** The usual five, weighed by similarity; `equal` weighs them alike. */
export function nearestNeighbours(count: number, weighing: 'similarity' | 'equal'): PureForecaster {
  return (environment, history, candidates) => {
    const records = inOrder(history)
    const evidence = gainEvidence(environment, records)
    const scale = typicalGain(evidence) ?? defaultScale
    const model = fitTfIdf(
      records.map(({ intervention, changes }) => interventionText(intervention, changes)),
      { bigrams: true },
    )
    const vectors = new Map(
      records.map(record => [record, model.transform(interventionText(record.intervention, record.changes))]),
    )
    const ended = endings(records)
    const recordIds = records.map(({ id }) => id)
    return candidates.map((candidate): Forecast => {
      const vector = model.transform(interventionText(candidate.intervention, candidate.changes))
      const ranked = evidence
        .map(({ record, gain }) => ({ gain, similarity: cosine(vector, vectors.get(record)!) }))
        .sort((first, second) => second.similarity - first.similarity)
      // Where nothing is alike, no five are nearest: the whole history is.
      const stranger = ranked.every(({ similarity }) => similarity === 0)
      const nearest = stranger ? ranked : ranked.slice(0, count)
      const weights = nearest.map(({ similarity }) => (weighing === 'equal' || stranger ? 1 : similarity))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const centre = total === 0 ? 0 : nearest.reduce((sum, { gain }, i) => sum + weights[i]! * gain, 0) / total
      // The typical gain of the history counts as one more neighbour's deviation: five may agree by luck.
      const squares = nearest.reduce((sum, { gain }, i) => sum + weights[i]! * (gain - centre) ** 2, scale ** 2)
      const deviation = Math.sqrt((squares / (total + 1)) * (1 + 1 / Math.max(1, nearest.length)))
      return {
        quantiles: normalQuantiles(centre, deviation),
        finishes: finishingProbability(
          ended,
          ended.map(({ record }) => cosine(vector, vectors.get(record)!) ** 2),
        ),
        forecaster: 'neighbours',
        forecasterVersion: '1',
        recordIds,
      }
    })
  }
}

export const neighbours: PureForecaster = nearestNeighbours(5, 'similarity')
