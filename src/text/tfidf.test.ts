import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cosine, fitTfIdf } from './tfidf.ts'
import { words } from './words.ts'

const { documents, cases } = JSON.parse(readFileSync(new URL('fixtures/tfidf.json', import.meta.url), 'utf8')) as {
  documents: string[]
  cases: { bigrams: boolean; size: number; rows: { text: string; weights: Record<string, number> }[] }[]
}

test.each(cases)('scikit-learn gives the same vectors (bigrams: $bigrams)', ({ bigrams, size, rows }) => {
  const fitted = fitTfIdf(documents, { bigrams })
  expect(fitted.size).toBe(size)
  for (const { text, weights } of rows) {
    expect(words(text)).toEqual(text.split(' ').filter(Boolean))
    const { indices, values } = fitted.transform(text)
    const ours = Object.fromEntries(Array.from(indices, (index, i) => [fitted.term(index), values[i]!]))
    expect(Object.keys(ours).sort()).toEqual(Object.keys(weights).sort())
    for (const [term, weight] of Object.entries(weights)) expect(ours[term]).toBeCloseTo(weight, 12)
  }
})

const text = fc.array(fc.constantFrom('muon', 'rate', '0.1', 'decay', 'warmup', 'adam'), { maxLength: 8 })
const texts = fc.array(
  text.map(list => list.join(' ')),
  { minLength: 1, maxLength: 8 },
)

test('the order of the documents does not matter, to the last bit', () => {
  fc.assert(
    fc.property(texts, fc.boolean(), (list, bigrams) => {
      const forwards = fitTfIdf(list, { bigrams })
      const backwards = fitTfIdf(list.toReversed(), { bigrams })
      for (const one of list) expect(forwards.transform(one)).toEqual(backwards.transform(one))
    }),
  )
})

test('cosine is 1 for a text and itself, symmetric, within [0, 1], and 0 without a common word', () => {
  fc.assert(
    fc.property(texts, list => {
      const { transform } = fitTfIdf(list, { bigrams: true })
      const vectors = list.map(transform)
      for (const [i, a] of vectors.entries()) {
        expect(cosine(a, a)).toBeCloseTo(a.indices.length === 0 ? 0 : 1, 12)
        for (const [j, b] of vectors.entries()) {
          expect(cosine(a, b)).toBe(cosine(b, a))
          expect(cosine(a, b)).toBeGreaterThanOrEqual(0)
          expect(cosine(a, b)).toBeLessThanOrEqual(1)
          const common = words(list[i]!).some(word => words(list[j]!).includes(word))
          expect(cosine(a, b) > 0).toBe(common)
        }
      }
    }),
  )
})

test('no documents, unknown words and empty texts give empty vectors', () => {
  const nothing = fitTfIdf([], { bigrams: true })
  expect(nothing.size).toBe(0)
  expect(nothing.transform('muon').indices).toHaveLength(0)
  expect(cosine(nothing.transform('muon'), nothing.transform('muon'))).toBe(0)
  expect(() => nothing.term(0)).toThrow('term: index 0 is not among the 0 terms')
})
