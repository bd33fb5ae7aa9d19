import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Transitions } from '../sampling.ts'
import { trieOf } from './trie.ts'

/** What can be read from a state to where nothing follows. */
function sequencesOf({ next }: Transitions, state = 0): number[][] {
  if (next[state]!.size === 0) return [[]]
  return [...next[state]!].flatMap(([token, following]) =>
    sequencesOf({ next }, following).map(rest => [token, ...rest]),
  )
}

test('a trie reads the sequences it was made from, each once, and no others', () => {
  const sequences = fc.array(
    fc.array(fc.nat({ max: 3 }), { maxLength: 4 }).map(tokens => [...tokens, 9]),
    { minLength: 1 },
  )
  fc.assert(
    fc.property(sequences, given => {
      const read = sequencesOf(trieOf(given)).map(tokens => tokens.join())
      expect(read.toSorted()).toEqual([...new Set(given.map(tokens => tokens.join()))].toSorted())
    }),
  )
})

test('common beginnings share their states', () => {
  const { next } = trieOf([Int32Array.of(1, 2, 3), Int32Array.of(1, 2, 4), Int32Array.of(5)])
  expect(next).toHaveLength(6)
  expect(next[0]).toEqual(
    new Map([
      [1, 1],
      [5, 5],
    ]),
  )
})

test.each([
  [[[1, 2], [1]], 'an earlier sequence begins with all of sequence 1; end every sequence with a stop token'],
  [[[1], [2], [1, 2]], 'sequence 2 begins with all of sequence 0; end every sequence with a stop token'],
  [[[1], []], 'sequence 1 is empty'],
  [[[1, -2]], 'token 1 of sequence 0 is -2: expected a whole number from 0 on'],
])('what cannot be is refused with a sentence (%#)', (sequences, sentence) => {
  expect(() => trieOf(sequences)).toThrow(sentence)
})
