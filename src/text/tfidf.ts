/**
 * TF-IDF: a text as a sparse vector of its words, each weighed by how rare it is among the documents it was fitted to.
 * The numbers are those of scikit-learn's TfidfVectorizer with its defaults (smoothed idf, L2 norm) on our words.
 */
import { cosine, type SparseVector } from '../statistics/sparse.ts'
import { words } from './words.ts'

export { cosine, type SparseVector }

export interface TfIdf {
  /** Number of terms, the length of the vectors. */
  readonly size: number
  /** The term of an index: a word, or two with a space between. Words come first; the order depends on the set of terms alone. */
  term(index: number): string
  /** Of unit length, or empty where no word of the text occurs in the fitted documents. */
  transform(text: string): SparseVector
}

/** With `bigrams`, pairs of neighbouring words are terms as well. Fitting to no document gives empty vectors. */
export function fitTfIdf(documents: readonly string[], { bigrams }: { readonly bigrams: boolean }): TfIdf {
  const wordsByDocument = documents.map(words)
  const vocabulary = [...new Set(wordsByDocument.flat())].sort()
  const numberOf = new Map(vocabulary.map((word, number) => [word, number]))
  // A pair is first · |vocabulary| + second: numbers, as hundreds of thousands of joined texts would be slow.
  const keyOf = (first: number, second: number) => first * vocabulary.length + second

  const documentCounts = new Map<number, number>()
  const pairDocumentCounts = new Map<number, number>()
  for (const document of wordsByDocument) {
    const { wordCounts, pairCounts } = count(document)
    for (const number of wordCounts.keys()) increment(documentCounts, number)
    for (const key of pairCounts.keys()) increment(pairDocumentCounts, key)
  }
  const pairs = Float64Array.from(pairDocumentCounts.keys()).sort()
  const indexOfPair = new Map<number, number>()
  const size = vocabulary.length + pairs.length
  const inverseFrequency = new Float64Array(size)
  const inverse = (counted: number) => Math.log((1 + documents.length) / (1 + counted)) + 1
  for (let number = 0; number < vocabulary.length; number++) {
    inverseFrequency[number] = inverse(documentCounts.get(number)!)
  }
  for (let i = 0; i < pairs.length; i++) {
    indexOfPair.set(pairs[i]!, vocabulary.length + i)
    inverseFrequency[vocabulary.length + i] = inverse(pairDocumentCounts.get(pairs[i]!)!)
  }

  function count(document: readonly string[]) {
    const wordCounts = new Map<number, number>()
    const pairCounts = new Map<number, number>()
    let previous: number | undefined
    for (const word of document) {
      const number = numberOf.get(word)
      if (number !== undefined) {
        increment(wordCounts, number)
        if (bigrams && previous !== undefined) increment(pairCounts, keyOf(previous, number))
      }
      previous = number
    }
    return { wordCounts, pairCounts }
  }

  function term(index: number): string {
    if (!(index >= 0 && index < size)) throw new Error(`term: index ${index} is not among the ${size} terms`)
    if (index < vocabulary.length) return vocabulary[index]!
    const key = pairs[index - vocabulary.length]!
    return `${vocabulary[Math.floor(key / vocabulary.length)]} ${vocabulary[key % vocabulary.length]}`
  }

  function transform(text: string): SparseVector {
    const { wordCounts: counts, pairCounts } = count(words(text))
    for (const [key, counted] of pairCounts) {
      const index = indexOfPair.get(key)
      if (index !== undefined) counts.set(index, counted)
    }
    const indices = Int32Array.from([...counts.keys()]).sort()
    const values = new Float64Array(indices.length)
    let squares = 0
    for (let i = 0; i < indices.length; i++) {
      const value = counts.get(indices[i]!)! * inverseFrequency[indices[i]!]!
      values[i] = value
      squares += value * value
    }
    const length = Math.sqrt(squares)
    for (let i = 0; i < values.length; i++) values[i]! /= length
    return { indices, values }
  }

  return { size, term, transform }
}

function increment(counts: Map<number, number>, key: number): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
