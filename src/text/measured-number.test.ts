import { expect, test } from 'vitest'
import { measuredNumber } from './measured-number.ts'
import { withoutOutcome } from './outcome-words.ts'

const found = (text: string, ...values: number[]) => {
  const place = measuredNumber(text, values)
  return place === null ? null : text.slice(place.start, place.end)
}

test('the number as written, rounded, with thousands separated, and negative', () => {
  expect(found('depth 9: 0.98177', 0.98177)).toBe('0.98177')
  expect(found('depth 9: 0.982 in all', 0.98177)).toBe('0.982')
  expect(found('combined 3,818µs', 3818)).toBe('3,818')
  expect(found('combined 3,818 µs', 3818)).toBe('3,818')
  expect(found('a reward of -12.25', -12.25)).toBe('-12.25')
})

test('other numbers, and those too short to tell, are none', () => {
  expect(found('rate 0.98 instead of 0.5', 0.98177)).toBe(null)
  expect(found('rate 0.9', 0.9)).toBe(null)
  expect(found('batch 512', 512)).toBe(null)
  expect(found('v1.0.25 and 0.98177e-3', 0.98177, 0.25)).toBe(null)
})

test('what was tried ends before the number', () => {
  expect(withoutOutcome('softcap 15, 0.9932 in the end', [0.99321])).toEqual({
    tried: 'softcap 15',
    outcome: '0.9932 in the end',
  })
  expect(withoutOutcome('softcap 15, 0.9932 in the end').outcome).toBe('')
})
