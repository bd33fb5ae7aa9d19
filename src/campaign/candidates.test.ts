import { expect, test } from 'vitest'
import { parseCandidates } from './candidates.ts'

test('one bad candidate never loses the others, however it is bad', () => {
  const deep = `{"sentence": "x", "overrides": {"rate": ${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  const lines = [deep, '{"sentence": "cut', '5', '{"sentence": ""}', '{"sentence": "good", "overrides": {"rate": 2}}']
  const { interventions, unusable } = parseCandidates(lines.join('\n'), 'c.jsonl')
  expect(interventions.map(({ sentence }) => sentence)).toEqual(['good'])
  expect(unusable.map(({ reason }) => reason)).toEqual([
    'c.jsonl, line 1: it is nested too deep.',
    expect.stringMatching(/^It is not JSON: /),
    expect.stringMatching(/^c\.jsonl, line 3: it is 5; /),
    expect.stringMatching(/^c\.jsonl, line 4: sentence is ""; /),
  ])
})
