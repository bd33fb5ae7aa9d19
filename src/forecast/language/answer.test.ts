import { expect, test } from 'vitest'
import { type Expected, readAnswer } from '../../language/read-answer.ts'
import { answerSchema, type ModelAnswer, problemWith } from './answer.ts'

const labels = ['C1', 'C2']
const known = new Set([4, 7, 9])
const gain = { p10: -1, p25: 0, p50: 0, p75: 0.5, p90: 1e300 }
const entry = { candidate: 'C1', closest: [7, 4], basis: 'analogy', uncertainty: '', finishes: 1, gain }
const both = [{ ...entry, candidate: 'C2' }, entry]

function wrongWith(forecasts: readonly object[]): string | null {
  const expected: Expected<ModelAnswer> = {
    schema: answerSchema(labels, known.size),
    check: answer => problemWith(answer, labels, known),
  }
  const read = readAnswer(JSON.stringify({ forecasts }), expected)
  return 'wrong' in read ? read.wrong : null
}

test('one forecast for each candidate in any order, with level quantiles and huge ones, is an answer', () => {
  expect(wrongWith(both)).toBeNull()
})

test.each<[string, readonly object[], string]>([
  ['one candidate twice', [entry, entry], 'there is no forecast of candidate C2'],
  ['too few', [entry], 'forecasts: Too small'],
  ['too many', [...both, entry], 'forecasts: Too big'],
  ['more records than there are', [both[0]!, { ...entry, closest: [4, 7, 9, 4] }], 'forecasts.1.closest: Too big'],
  ['a record by its place in words', [both[0]!, { ...entry, closest: ['7'] }], 'forecasts.1.closest.0: Invalid input'],
  ['a record that was not shown', [both[0]!, { ...entry, closest: [5] }], 'there is no record 5 in the history'],
  ['a quantile that is missing', [both[0]!, { ...entry, gain: { ...gain, p50: undefined } }], 'forecasts.1.gain.p50'],
  [
    'quantiles out of order',
    [both[0]!, { ...entry, gain: { ...gain, p10: 0.1 } }],
    'must not decrease from p10 to p90',
  ],
  ['a gain of astronomers', [both[0]!, { ...entry, gain: { ...gain, p90: 1e308 } }], 'no gain is as large as 1e+308'],
  ['a negative chance', [both[0]!, { ...entry, finishes: -0.1 }], 'forecasts.1.finishes: Too small'],
])('%s is none', (_, forecasts, reason) => {
  expect(wrongWith(forecasts)).toContain(reason)
})
