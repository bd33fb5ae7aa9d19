import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outcomeWords, withoutOutcome } from './outcome-words.ts'

// What was tried, then what a note says of it: in the manner of real logs, none of them quoted.
test.each([
  ['learning rate 0.04 to 0.06', ''],
  ['softcap 30 to 20 (worse)', 'softcap 30 to 20'],
  ['add z-loss 1e-4: slightly better than baseline', 'add z-loss 1e-4'],
  ['depth 12, width 640 (too few steps)', 'depth 12, width 640'],
  ['muon momentum 0.9 -> val_bpb 0.9812 vs 0.9830', 'muon momentum 0.9'],
  ['NEW BEST! warm-down 0.6', 'warm-down 0.6'],
  ['FAIL: batch of 512, OOM after 10 steps', 'batch of 512'],
  ['untie the head. No gain, within noise. Maybe more steps?', 'untie the head'],
  ['no improvement from doubling the heads', 'doubling the heads'],
  ['draft length 6: 164.2 tok/s (+31%)', 'draft length 6'],
  ['shared values in the last layers — diverged at step 400', 'shared values in the last layers'],
  ['swap GELU for SwiGLU gives 0.0021 bpb improvement', 'swap GELU for SwiGLU'],
  ['value embeddings (every second layer), hurts throughput', 'value embeddings (every second layer)'],
  ['weight tying did not help', 'weight tying'],
  ['Reverted. Cosine schedule with 5 % floor', 'Cosine schedule with 5 % floor'],
  ['EMA 0.999; int8=1.1802 sw=1.1659', 'EMA 0.999'],
  ['much worse', ''],
])('of %j', (note, tried) => {
  const split = withoutOutcome(note)
  if (tried !== '' || outcomeWords(note).length > 0) {
    expect(split.tried).toBe(tried)
    expect(split.outcome).not.toBe('')
    expect(outcomeWords(note)).not.toEqual([])
    expect(outcomeWords(split.tried)).toEqual([])
  } else expect(split).toEqual({ tried: note, outcome: '' })
})

// Proposals: aims, reasons, settings and names of methods are not results.
test.each([
  'raise the learning rate for better use of the short budget',
  'gradient clipping at 1.0 to avoid NaN in early steps',
  'QK norm should help at high learning rates',
  'learning rate 3, to see where it breaks',
  'faster decay of the second moment: beta2 0.95',
  'QK_GAIN=4.0 with z-loss 0.0001',
  'ridge regression head with label noise 0.1',
  'fix crash when the batch is odd',
  'lower weight decay 0.2 to 0.1, warm-up 100 steps',
  'use best-fit packing and a flat schedule of 0.02',
  'keep embeddings in fp32',
  'window pattern SSSL (3 short : 1 long)',
])('finds nothing in %j', note => {
  expect(outcomeWords(note)).toEqual([])
  expect(withoutOutcome(note)).toEqual({ tried: note, outcome: '' })
})

test('no letter or digit is invented, and hostile text comes to an end', () => {
  const piece = fc.constantFrom(
    'worse',
    '(',
    ')',
    '[',
    'lr 0.1',
    ': ',
    ', ',
    '. ',
    ' ',
    '+3%',
    'helps',
    '\n',
    '—',
    ']',
    '0.98 bpb',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), pieces => {
      const note = pieces.join('')
      const { tried, outcome } = withoutOutcome(note)
      const letters = (text: string) => [...text.matchAll(/[\p{L}\d]/gu)].length
      expect(letters(tried) + letters(outcome)).toBe(letters(note))
    }),
  )
  for (const hostile of ['(', 'a ', '1', 'not ', '- ', 'gain of ']) withoutOutcome(hostile.repeat(20_000))
})
