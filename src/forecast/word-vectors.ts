/**
 * The records of a history and whoever is compared with them, as TF-IDF vectors of all that their interventions say. Rare words and
 * pairs of words are those that are rare in the history.
 */
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import { fitTfIdf, type SparseVector } from '../text/tfidf.ts'
import { interventionWords } from './intervention-text.ts'

export interface WordVectors {
  /** Length of a vector. */
  readonly size: number
  /** One a record, in their order. */
  readonly ofRecords: readonly SparseVector[]
  of(candidate: Candidate): SparseVector
}

export function wordVectors(records: readonly ExperimentRecord[]): WordVectors {
  const { size, transform } = fitTfIdf(records.map(interventionWords), { bigrams: true })
  const of = (candidate: Candidate) => transform(interventionWords(candidate))
  return { size, ofRecords: records.map(of), of }
}
