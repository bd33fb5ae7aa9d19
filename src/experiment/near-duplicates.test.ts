import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linesSimilarity } from '../text/similarity.ts'
import { alikePairs } from './alike-pairs.ts'
import { nearDuplicateGroups } from './near-duplicates.ts'
import type { Candidate } from './record.ts'

function item(parts: Partial<Candidate['intervention']>, options: readonly string[] = []): Candidate {
  return {
    intervention: { sentence: 'a change', overrides: {}, diff: null, tags: [], origin: null, ...parts },
    changes: options.map(option => ({ option, from: 1, to: 2 })),
  }
}

describe('nearDuplicateGroups', () => {
  test('the same options and tags with other values are one group; other tags are not', () => {
    const items = [
      item({ tags: ['rate'] }, ['optimiser.rate']),
      item({ tags: ['rate'] }, ['optimiser.rate']),
      item({ tags: ['rate', 'depth'] }, ['depth', 'optimiser.rate']),
      item({ tags: ['depth', 'rate'] }, ['optimiser.rate', 'depth']),
      item({ tags: ['other'] }, ['optimiser.rate']),
    ]
    expect(nearDuplicateGroups(items)).toEqual([0, 0, 1, 1, 2])
  })

  test('diffs are alike from the threshold on', () => {
    const diff = (lines: string[]) => createTwoFilesPatch('a/x.c', 'b/x.c', '', lines.map(line => `${line}\n`).join(''))
    const lines = Array.from({ length: 10 }, (_, index) => `call_${index}();`)
    const alike = diff([...lines.slice(0, 8), 'other();', 'another();'])
    const items = [item({ diff: diff(lines) }), item({ diff: alike }), item({ diff: diff(['nothing();']) })]
    expect(nearDuplicateGroups(items, 0.8)).toEqual([0, 0, 1])
    expect(nearDuplicateGroups(items, 0.81)).toEqual([0, 1, 2])
  })

  test('words alone are compared with all sentences, numbers counting as equal', () => {
    const words = (sentence: string) => item({ sentence, overrides: null })
    const items = [
      words('increase the learning rate from 0.02 to 0.04'),
      words('Increase the learning rate from 0.02 to 0.08.'),
      words('use rotary positions'),
      item({ sentence: 'increase learning rate from 0.04 to 0.06', diff: 'x' }),
      item({ sentence: 'use rotary positions now', overrides: { a: 1 } }),
      item({ sentence: 'use rotary positions now', overrides: { b: 1 } }),
    ]
    expect(nearDuplicateGroups(items)).toEqual([0, 0, 1, 0, 1, 1])
  })

  test('groups are transitive', () => {
    const items = [
      item({ diff: 'same' }, ['a']),
      item({ diff: 'same' }, ['b']),
      item({ diff: null }, ['b']),
      item({ diff: null, sentence: 'another change' }, ['c']),
    ]
    expect(nearDuplicateGroups(items)).toEqual([0, 0, 0, 1])
  })

  test('one proposal is one group, also where a reference has a part of it already', () => {
    const muon = (rate: number) => ({ sentence: `Train the matrices with Muon at ${rate}.`, tags: ['optimiser'] })
    const items = [
      item(muon(0.005), ['optimiser', 'muonLearningRate']),
      item(muon(0.005), ['muonLearningRate']),
      item({ ...muon(0.005), tags: ['other'] }, ['width']),
      item({ ...muon(0.005), diff: 'a diff' }, ['depth']),
      item({ ...muon(0.05) }, ['heads']),
    ]
    expect(nearDuplicateGroups(items)).toEqual([0, 0, 1, 2, 3])
  })

  test('refuses a threshold that would join everything', () => {
    expect(() => nearDuplicateGroups([], 0)).toThrow('the threshold is 0; it must be above 0 and at most 1')
  })

  test('two thousand diffs with shared boilerplate are grouped by what is their own', () => {
    const common = Array.from({ length: 5 }, (_, index) => `+common ${index}`)
    const items = Array.from({ length: 2000 }, (_, index) => {
      const own = Array.from({ length: 40 }, (_, line) => `+own ${index >> 1} ${line}`)
      const lines = [...common, ...own, `+value ${index}`]
      return item({ diff: `--- a/x.c\n+++ b/x.c\n@@ -0,0 +1,${lines.length} @@\n${lines.join('\n')}\n` })
    })
    expect(nearDuplicateGroups(items)).toEqual(items.map((_, index) => index >> 1))
  })
})

describe('alikePairs', () => {
  test('finds exactly the pairs that comparing each with each finds', () => {
    const multiset = fc.array(fc.constantFrom(...'abcdefgh'), { maxLength: 12 }).map(elements => {
      const counts = new Map<string, number>()
      for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1)
      return counts
    })
    const threshold = fc.constantFrom(0.1, 0.5, 2 / 3, 0.8, 0.9, 1)
    fc.assert(
      fc.property(fc.array(multiset, { maxLength: 12 }), threshold, (multisets, threshold) => {
        const expected: string[] = []
        for (let a = 0; a < multisets.length; a++) {
          for (let b = 0; b < a; b++) {
            if (linesSimilarity(multisets[a]!, multisets[b]!) >= threshold) expected.push(`${a} ${b}`)
          }
        }
        const found = [...alikePairs(multisets, threshold)].map(([a, b]) => `${a} ${b}`)
        expect(found.sort()).toEqual(expected.sort())
      }),
      { numRuns: 300 },
    )
  })
})
