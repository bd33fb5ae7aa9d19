import { expect, test } from 'vitest'
import { spelled, wordNumbers } from '../text/word-numbers.ts'
import { interventionText, interventionWords, proposalText, proposalWords } from './intervention-text.ts'
import { candidateOf, environmentOf } from './planted/records.ts'

test('words are those of the text, in its order, and of what it changes against this reference', () => {
  const [slow, fast] = [0.001, 0.002].map(rate =>
    candidateOf(environmentOf('a', { rate }), 'Set useRMSNorm and the rate, the rate of 4e-3.', { rate: 0.004 }),
  )
  const again = { ...slow!, changes: fast!.changes }
  for (const candidate of [slow!, again, slow!]) {
    const { intervention, changes } = candidate
    expect(interventionWords(candidate)).toEqual(wordNumbers(interventionText(intervention, changes)))
    expect(proposalWords(intervention)).toEqual(wordNumbers(proposalText(intervention)))
  }
  expect(Array.from(interventionWords(again), spelled)).toEqual(
    'set use rms norm and the rate the rate of 0.004 rate 0.002 0.004'.split(' '),
  )
})
