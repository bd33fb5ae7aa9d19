/**
 * The forecaster `neighbours`: the mean gain of the five records whose intervention reads most like the candidate, weighed
 * by the cosine of their TF-IDF vectors. Knows words and nothing of what the reference has.
 */
import type { Forecast } from '../experiment/record.ts'
import { cosinesWith } from '../statistics/cosines.ts'
import { defaultScale, gainEvidence, typicalGain } from './evidence.ts'
import { finishingByCosines } from './finishing.ts'
import type { PureForecaster } from './forecaster.ts'
import { normalQuantiles } from './quantiles.ts'
import { inOrder } from './relevant-records.ts'
import { wordVectors } from './word-vectors.ts'

/** The usual five, weighed by similarity; `equal` weighs them alike. */
export function nearestNeighbours(count: number, weighing: 'similarity' | 'equal'): PureForecaster {
  return (environment, history, candidates) => {
    const records = inOrder(history)
    const evidence = gainEvidence(environment, records)
    const scale = typicalGain(evidence) ?? defaultScale
    const vectors = wordVectors(records)
    const cosinesOf = cosinesWith(vectors.ofRecords, vectors.size)
    const finishing = finishingByCosines(records)
    const placeOf = new Map(records.map((record, place) => [record, place]))
    const places = Int32Array.from(evidence, ({ record }) => placeOf.get(record)!)
    const recordIds = records.map(({ id }) => id)
    return candidates.map((candidate): Forecast => {
      const cosines = cosinesOf(vectors.of(candidate))
      const similarity = (index: number) => cosines[places[index]!]!
      const mostAlike = largest(cosines, places, count)
      // Where nothing is alike, no five are nearest: the whole history is.
      const stranger = mostAlike.every(index => similarity(index) === 0)
      const nearest = stranger ? evidence.map((_, index) => index) : mostAlike
      const gains = nearest.map(index => evidence[index]!.gain)
      const weights = nearest.map(index => (weighing === 'equal' || stranger ? 1 : similarity(index)))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const centre = total === 0 ? 0 : gains.reduce((sum, gain, i) => sum + weights[i]! * gain, 0) / total
      // The typical gain of the history counts as one more neighbour's deviation: five may agree by luck.
      const squares = gains.reduce((sum, gain, i) => sum + weights[i]! * (gain - centre) ** 2, scale ** 2)
      const deviation = Math.sqrt((squares / (total + 1)) * (1 + 1 / Math.max(1, nearest.length)))
      return {
        quantiles: normalQuantiles(centre, deviation),
        finishes: finishing(cosines),
        forecaster: 'neighbours',
        forecasterVersion: '1',
        recordIds,
      }
    })
  }
}

export const neighbours: PureForecaster = nearestNeighbours(5, 'similarity')

/**
 * Indices into `places` of the `count` largest values at them, the largest first and of equals the earlier one; without sorting the others.
 */
function largest(values: Float64Array, places: Int32Array, count: number): number[] {
  const found: number[] = []
  let least = Number.NEGATIVE_INFINITY
  for (let index = 0; index < places.length; index++) {
    const value = values[places[index]!]!
    if (!(value > least)) continue
    if (found.length === count) found.pop()
    const behind = found.findIndex(other => value > values[places[other]!]!)
    found.splice(behind === -1 ? found.length : behind, 0, index)
    if (found.length === count) least = values[places[found[count - 1]!]!]!
  }
  return found
}
