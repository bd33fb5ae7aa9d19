/**
 * TF-IDF: a text as a sparse vector of its words, each weighed by how rare it is among the documents it was fitted to.
 * The numbers are those of scikit-learn's TfidfVectorizer with its defaults (smoothed idf, L2 norm) on our words.
 */
import { cosine, type SparseVector } from '../statistics/sparse.ts'
import { spelled, wordNumbers } from './word-numbers.ts'

export { cosine, type SparseVector }

/** A text, or what `wordNumbers` has read of it. */
export type Document = string | Int32Array

export interface TfIdf {
  /** Number of terms, the length of the vectors. */
  readonly size: number
  /** The term of an index: a word, or two with a space between. Words come first; the order depends on the set of terms alone. */
  term(index: number): string
  /** Of unit length, or empty where no word of the text occurs in the fitted documents. */
  transform(document: Document): SparseVector
}

interface Term {
  index: number
  documents: number
  lastDocument: number
}

/** With `bigrams`, pairs of neighbouring words are terms as well. Fitting to no document gives empty vectors. */
export function fitTfIdf(documents: readonly Document[], { bigrams }: { readonly bigrams: boolean }): TfIdf {
  const read = documents.map(numbersOf)
  const wordTerms = countTerms(read)
  const vocabulary = [...wordTerms.keys()].sort((first, second) => (spelled(first) < spelled(second) ? -1 : 1))
  vocabulary.forEach((number, index) => {
    wordTerms.get(number)!.index = index
  })
  const pairTerms = countTerms(bigrams ? read.map(pairsOf) : [])
  const pairs = Float64Array.from(pairTerms.keys()).sort()
  pairs.forEach((key, index) => {
    pairTerms.get(key)!.index = vocabulary.length + index
  })
  const size = vocabulary.length + pairs.length
  const inverseFrequency = new Float64Array(size)
  for (const terms of [wordTerms, pairTerms]) {
    for (const { index, documents: counted } of terms.values()) {
      inverseFrequency[index] = Math.log((1 + documents.length) / (1 + counted)) + 1
    }
  }

  /** A pair is first · |vocabulary| + second: numbers, as hundreds of thousands of joined texts would be slow. */
  function pairsOf(document: Int32Array): Float64Array {
    const keys = new Float64Array(document.length)
    let count = 0
    let previous: Term | undefined
    for (let place = 0; place < document.length; place++) {
      const term = wordTerms.get(document[place]!)
      if (term !== undefined && previous !== undefined) {
        keys[count++] = previous.index * vocabulary.length + term.index
      }
      previous = term
    }
    return keys.subarray(0, count)
  }

  function term(index: number): string {
    if (!(index >= 0 && index < size)) throw new Error(`term: index ${index} is not among the ${size} terms`)
    if (index < vocabulary.length) return spelled(vocabulary[index]!)
    const key = pairs[index - vocabulary.length]!
    return `${spelled(vocabulary[Math.floor(key / vocabulary.length)]!)} ${spelled(vocabulary[key % vocabulary.length]!)}`
  }

  function transform(document: Document): SparseVector {
    const numbers = numbersOf(document)
    const pairs = bigrams ? pairsOf(numbers) : noKeys
    const occurring = new Int32Array(numbers.length + pairs.length)
    const wordCount = writeIndices(wordTerms, numbers, occurring, 0)
    const count = writeIndices(pairTerms, pairs, occurring, wordCount)
    return weigh(occurring.subarray(0, count).sort(), inverseFrequency)
  }

  return { size, term, transform }
}

const noKeys = new Float64Array(0)

function numbersOf(document: Document): Int32Array {
  return typeof document === 'string' ? wordNumbers(document) : document
}

/** In how many documents each key occurs; their indices are for the caller to give. */
function countTerms(documents: readonly ArrayLike<number>[]): Map<number, Term> {
  const terms = new Map<number, Term>()
  for (let document = 0; document < documents.length; document++) {
    const keys = documents[document]!
    for (let place = 0; place < keys.length; place++) {
      const term = terms.get(keys[place]!)
      if (term === undefined) {
        terms.set(keys[place]!, { index: 0, documents: 1, lastDocument: document })
      } else if (term.lastDocument !== document) {
        term.documents++
        term.lastDocument = document
      }
    }
  }
  return terms
}

/** Writes the indices of the known keys from `start` on, and says where they end. */
function writeIndices(terms: Map<number, Term>, keys: ArrayLike<number>, indices: Int32Array, start: number): number {
  let end = start
  for (let place = 0; place < keys.length; place++) {
    const term = terms.get(keys[place]!)
    if (term !== undefined) indices[end++] = term.index
  }
  return end
}

/** `occurring`: ascending, an index as often as it occurs. */
function weigh(occurring: Int32Array, inverseFrequency: Float64Array): SparseVector {
  let distinct = 0
  for (let place = 0; place < occurring.length; place++) {
    if (place === 0 || occurring[place] !== occurring[place - 1]) distinct++
  }
  const indices = new Int32Array(distinct)
  const values = new Float64Array(distinct)
  let squares = 0
  for (let place = 0, entry = 0; entry < distinct; entry++) {
    const index = occurring[place]!
    const start = place
    while (place < occurring.length && occurring[place] === index) place++
    const value = (place - start) * inverseFrequency[index]!
    indices[entry] = index
    values[entry] = value
    squares += value * value
  }
  const length = Math.sqrt(squares)
  for (let entry = 0; entry < distinct; entry++) values[entry]! /= length
  return { indices, values }
}
