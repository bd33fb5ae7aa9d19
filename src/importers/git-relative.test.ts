import { expect, test } from 'vitest'
import { changesIn } from './git-relative.ts'

test('the changes that a text states are found by their unit, in a time that grows with its length', () => {
  const text = `${'a'.repeat(300_000)} loss: -0.3% and +1.5 s, val_bpb -2 %`
  expect(changesIn(text, '%').map(({ start, end }) => text.slice(start, end))).toEqual(['-0.3%', '-2 %'])
  expect(changesIn(text, 'seconds').map(({ start, end }) => text.slice(start, end))).toEqual(['+1.5 s'])
})
