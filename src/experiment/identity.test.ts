import { expect, test } from 'vitest'
import type { Reference } from './environment.ts'
import { interventionHash, referenceHash } from './identity.ts'

const reference: Reference = { configuration: { depth: 4, rate: 0.1 }, commit: 'c0ffee', tree: 'abc', code: null }

test('an intervention that changes nothing has the hash of the reference, whatever the order of keys', () => {
  expect(interventionHash({ configuration: { rate: 0.1, depth: 4 }, tree: 'abc' })).toBe(referenceHash(reference))
  expect(interventionHash({ configuration: { rate: 0.2, depth: 4 }, tree: 'abc' })).not.toBe(referenceHash(reference))
  expect(interventionHash({ configuration: { rate: 0.1, depth: 4 }, tree: 'abd' })).not.toBe(referenceHash(reference))
})

test('the commit that carries the tree does not count', () => {
  expect(referenceHash({ ...reference, commit: 'decaf' })).toBe(referenceHash(reference))
})

test('words alone count without case, spacing and closing punctuation, and with their origin', () => {
  const hash = (sentence: string, origin: string | null = 'results.tsv:3') => interventionHash({ sentence, origin })
  expect(hash('  Increase the\tLearning rate to 0.04. ')).toBe(hash('increase the learning rate to 0.04'))
  expect(hash('increase the learning rate to 0.04')).not.toBe(hash('increase the learning rate to 0.4'))
  expect(hash('baseline', 'results.tsv:3')).not.toBe(hash('baseline', 'results.tsv:9'))
})

test('references of which only the label is known differ by it', () => {
  const named = (label: string) => referenceHash({ configuration: null, commit: null, tree: null, code: null, label })
  expect(named('row 1')).not.toBe(named('row 2'))
})
