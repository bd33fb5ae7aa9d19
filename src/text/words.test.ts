import fc from 'fast-check'
import { expect, test } from 'vitest'
import { words } from './words.ts'

test.each([
  ['learning_rate=3e-4', ['learning', 'rate', '0.0003']],
  ['lr 0.0003 -> .0004', ['lr', '0.0003', '0.0004']],
  ['ReLU² and SwiGLU, AdamW, RoPE', ['relu2', 'and', 'swiglu', 'adamw', 'rope']],
  ['useRMSNorm valBpb MATRIX_LR', ['use', 'rms', 'norm', 'val', 'bpb', 'matrix', 'lr']],
  ['self.fc1.weight', ['self', 'fc1', 'weight']],
  ['16GB fp16 H100 v2 1.2.3 python3.12', ['16gb', 'fp16', 'h100', 'v2', '1.2.3', 'python3.12']],
  ['1_024 1e3 x=1.', ['1024', '1000', 'x', '1']],
  ['It ended at 3.14.', ['it', 'ended', 'at', '3.14']],
  ['Größe 中文', ['größe', '中文']],
  ['1e999 \u0000 ... --', ['1e999']],
])('words of %j', (text, expected) => {
  expect(words(text)).toEqual(expected)
})

test('any text gives words that are not empty, in lower case, and the same for their own spelling', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      for (const word of words(text)) {
        expect(word).not.toBe('')
        expect(word).toBe(word.toLowerCase())
      }
    }),
  )
})

test('a number has one spelling', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-7, max: 1e15, noNaN: true }), number => {
      expect(words(number.toExponential())).toEqual([String(number)])
      expect(words(String(number))).toEqual([String(number)])
    }),
  )
})
