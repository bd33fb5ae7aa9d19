import { expect, test } from 'vitest'
import { readResultsTsv } from './results-tsv.ts'
import { boundedText, givenName, triedIn, triedTags } from './tried.ts'

const tag = (text: string) =>
  triedIn({ tag: text, proposal: null, description: null, configuration: null, extra: [] }).sentence

test.each([
  ['draft6_BEST', 'draft6'],
  ['wide_layers_worse', 'wide_layers'],
  ['lr-0.1-best-failed', 'lr-0.1'],
  ['wide (failed)', 'wide'],
  ['no_gain', ''],
  ['best_of_n sampling', 'best_of_n sampling'],
  ['rebest', 'rebest'],
  ['nvfp4_baseline', 'nvfp4_baseline'],
  ['exp34', ''],
  ['exp34_crash', 'exp34'],
])('a name says what was tried, not how it went: %s', (written, kept) => {
  expect(tag(written)).toBe(kept)
})

test('names that a tracker made up say nothing', () => {
  const made = ['sunny-river-12', 'bold-colt-345', '0123456789abcdef', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'run 7']
  expect(made.map(givenName)).toEqual(['', '', '', '', ''])
  expect(givenName('wider attention')).toBe('wider attention')
})

test('tags that say how it went are left out', () => {
  expect(triedTags(['attention', 'best', 'FAILED', 'much worse', 'nightly_reverted', 'group: a'])).toEqual([
    'attention',
    'nightly',
    'group: a',
  ])
})

test('a text that is longer than any idea is cut before patterns go through it', () => {
  const long = 'try this, '.repeat(100_000)
  expect(boundedText(long)).toBe(`${long.slice(0, 20_000)}…`)
  const row = `commit\tloss\tstatus\tdescription\na1\t1\tkeep\tbegin\nb2\t0.9\tkeep\t${long}\n`
  expect(readResultsTsv(row, 'results.tsv').rows[1]!.intervention.sentence.length).toBeLessThan(20_100)
  expect(givenName(' . '.repeat(100_000)).length).toBeLessThan(1001)
})
