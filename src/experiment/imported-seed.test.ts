import fc from 'fast-check'
import { expect, test } from 'vitest'
import { importedSeed, seedOfLog } from './imported-seed.ts'

test('a seed that a log states comes back, one that it does not is none, and neither is ever one of our own', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 52 }), fc.nat(), (seed, repeat) => {
      const [known, counted] = [importedSeed(seed, repeat), importedSeed(null, repeat)]
      expect(seedOfLog(known)).toBe(seed)
      expect(seedOfLog(counted)).toBe(null)
      expect(known).toBeLessThan(0)
      expect(counted).toBeLessThan(0)
      expect(known).not.toBe(counted)
      expect(seedOfLog(seed)).toBe(undefined)
    }),
  )
})

test('what is no seed that can be kept exactly is counted like one that is not known', () => {
  for (const seed of [-1, 0.5, 2 ** 53, Number.NaN]) expect(importedSeed(seed, 3)).toBe(-4)
})
