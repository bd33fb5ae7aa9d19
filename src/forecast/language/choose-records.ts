/**
 * Which records a language model is shown when it cannot be shown all: relevant to the candidates and unlike each other.
 * Greedy maximal marginal relevance (Carbonell and Goldstein, 1998): each next record is the one with the largest
 * λ · relevance − (1 − λ) · likeness to those already taken.
 */
import type { Environment } from '../../experiment/environment.ts'
import { optionName } from '../../experiment/option-name.ts'
import type { Candidate, ExperimentRecord } from '../../experiment/record.ts'
import { cosine, fitTfIdf } from '../../text/tfidf.ts'
import { interventionText } from '../intervention-text.ts'
import { inOrder, relevanceTo, relevantRecords } from '../relevant-records.ts'
import { serialiseRecord } from '../serialise.ts'

/** λ: relevance counts for more than variety. */
const weightOfRelevance = 0.7

/** Of a longer history only so many are looked at: each further one is compared with all that were taken. */
const mostConsidered = 1500

/** Records whose texts have at most so many characters together, in the order of their ids. */
export function chooseRecords(
  environment: Environment,
  history: readonly ExperimentRecord[],
  candidates: readonly Candidate[],
  characters: number,
): ExperimentRecord[] {
  const considered = relevantRecords(environment, history, candidates, mostConsidered)
  const lengths = considered.map(record => serialiseRecord(environment, record).length + 1)
  const isAll = considered.length === history.length
  if (isAll && lengths.reduce((sum, length) => sum + length, 0) <= characters) return considered

  const texts = considered.map(({ intervention, changes }) => interventionText(intervention, changes))
  const model = fitTfIdf(texts, { bigrams: false })
  const vectors = texts.map(text => model.transform(text))
  const options = considered.map(({ changes }) => new Set(changes.map(({ option }) => optionName(option))))
  const likeness = (first: number, second: number) =>
    (cosine(vectors[first]!, vectors[second]!) + overlap(options[first]!, options[second]!)) / 2
  // From 0 to 1: half for how close the environment is, half for the candidate.
  const relevanceOf = relevanceTo(environment, candidates)
  const relevance = considered.map(relevanceOf).map(value => Math.floor(value / 10) / 4 + (value % 10) / 4)

  const nearest = new Float64Array(considered.length)
  const left = new Set(considered.keys())
  const taken: ExperimentRecord[] = []
  let room = characters
  while (left.size > 0) {
    let best = -1
    let bestScore = Number.NEGATIVE_INFINITY
    for (const index of left) {
      const score = weightOfRelevance * relevance[index]! - (1 - weightOfRelevance) * nearest[index]!
      if (score > bestScore) [best, bestScore] = [index, score]
    }
    left.delete(best)
    if (lengths[best]! > room) continue
    room -= lengths[best]!
    taken.push(considered[best]!)
    for (const index of left) nearest[index] = Math.max(nearest[index]!, likeness(best, index))
  }
  return inOrder(taken)
}

function overlap(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  const all = first.union(second).size
  return all === 0 ? 0 : first.intersection(second).size / all
}
