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

/** The last ones: of one history several forecasters are asked in a row. */
let last: { readonly words: readonly Int32Array[]; readonly vectors: WordVectors } | undefined

export function wordVectors(records: readonly ExperimentRecord[]): WordVectors {
  const words = records.map(interventionWords)
  if (last !== undefined && isSame(words, last.words)) return last.vectors
  const { size, transform } = fitTfIdf(words, { bigrams: true })
  const vectors = {
    size,
    ofRecords: words.map(transform),
    of: (candidate: Candidate) => transform(interventionWords(candidate)),
  }
  last = { words, vectors }
  return vectors
}

/** Words are read once for each intervention, so that those of the same records are the same arrays. */
function isSame(words: readonly Int32Array[], others: readonly Int32Array[]): boolean {
  return words.length === others.length && words.every((list, index) => list === others[index])
}
