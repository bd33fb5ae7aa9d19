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

test.each([
  ['set the rate to 0.02, loss went down nicely', 'set the rate to 0.02'],
  ['rotary embeddings went great, loss down', 'rotary embeddings'],
  ['cosine schedule; loss dropped by 2%', 'cosine schedule'],
  ['dropout 0.1 and the loss fell', 'dropout 0.1'],
  ['sigmoid gate: accuracy went from 0.81 to 0.84', 'sigmoid gate'],
  ['depth 12; training loss is up but throughput is too', 'depth 12'],
  ['heads of 32, speed doubled', 'heads of 32'],
  ['weight norm brought the loss down', 'weight norm'],
  ['weight norm lowers perplexity by 1', 'weight norm'],
  ['weight norm made the loss climb', 'weight norm'],
  ['label smoothing, lower loss', 'label smoothing'],
  ['label smoothing gave a nice boost', 'label smoothing'],
  ['mixture of two heads looks good so far', 'mixture of two heads'],
  ['EMA turned out to be useless', 'EMA'],
  ['warm-up 200. Not good.', 'warm-up 200'],
  ['warm-up 200 (great)', 'warm-up 200'],
  ['bigger batch trained fine, not much difference', 'bigger batch'],
  ['swap the norm, similar results', 'swap the norm'],
])('what a measured value did is a result: %j', (note, tried) => {
  expect(withoutOutcome(note).tried).toBe(tried)
})

// The same verbs and adjectives, said of what is set, of a term of the objective, or of what a program waits for.
test.each([
  'drop the learning rate by 2',
  'went from 8 to 12 layers',
  'went down to 8 layers, then up to 10',
  'scale up the loss weight',
  'scale the logits and loss up by 2',
  'lowered the loss weight to 0.1',
  'great circle distance',
  'auxiliary loss dropped',
  'z-loss dropped to 1e-5',
  'dropped the loss on padding',
  'distillation loss increased to 0.5',
  'loss is computed in fp32',
  'loss reduced over tokens',
  'loss doubled for rare tokens',
  'loss down-weighted for short documents',
  'two heads, same loss',
  'restart when the loss goes up',
  'train until loss dropped below 3',
  'skip the batch once the training loss spiked',
  'lower dropout as the loss goes down',
  'see whether accuracy is good with more steps',
  'reward doubled for short answers',
  'memory doubled to 2048 slots',
  'good initialisation, bad words filtered out',
  'nice value 10 for the data loader',
  'for lower loss, train longer',
  'this should bring the loss down',
  'clip the gradient norm, which reduces loss spikes',
  'undo what went wrong in the mask',
  'error feedback, reduced error tolerance',
])('the same words are no result in %j', note => {
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
  for (const hostile of ['(', 'a ', '1', 'not ', '- ', 'gain of ', 'loss ', 'val ', 'loss went ', 'scale ', 'very '])
    withoutOutcome(hostile.repeat(20_000))
})
