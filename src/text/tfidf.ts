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
  /** The terms in the order of the vectors' indices: sorted by code unit. */
  readonly terms: readonly string[]
  /** Of unit length, or empty where no word of the text occurs in the fitted documents. */
  transform(text: string): SparseVector
}

/** With `bigrams`, pairs of neighbouring words are terms as well. Fitting to no document gives empty vectors. */
export function fitTfIdf(documents: readonly string[], { bigrams }: { readonly bigrams: boolean }): TfIdf {
  const documentCounts = new Map<string, number>()
  for (const document of documents) {
    for (const term of termCounts(document, bigrams).keys()) {
      documentCounts.set(term, (documentCounts.get(term) ?? 0) + 1)
    }
  }
  const terms = [...documentCounts.keys()].sort()
  const indexOf = new Map(terms.map((term, index) => [term, index]))
  const inverseFrequency = Float64Array.from(terms, term => {
    return Math.log((1 + documents.length) / (1 + documentCounts.get(term)!)) + 1
  })

  const transform = (text: string): SparseVector => {
    const counts: [index: number, count: number][] = []
    for (const [term, count] of termCounts(text, bigrams)) {
      const index = indexOf.get(term)
      if (index !== undefined) counts.push([index, count])
    }
    counts.sort(([i], [j]) => i - j)
    const indices = Int32Array.from(counts, ([index]) => index)
    const values = Float64Array.from(counts, ([index, count]) => count * inverseFrequency[index]!)
    let squares = 0
    for (const value of values) squares += value * value
    const length = Math.sqrt(squares)
    return { indices, values: values.map(value => value / length) }
  }

  return { size: terms.length, terms, transform }
}

function termCounts(text: string, bigrams: boolean): Map<string, number> {
  const counts = new Map<string, number>()
  let previous: string | null = null
  for (const word of words(text)) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
    if (bigrams && previous !== null) {
      const pair = `${previous} ${word}`
      counts.set(pair, (counts.get(pair) ?? 0) + 1)
    }
    previous = word
  }
  return counts
}
