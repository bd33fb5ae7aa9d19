import { expect, it } from 'vitest'
import { nearestWord } from './nearest-word.ts'

const words = ['labelSmoothing', 'threads', 'topP', 'topK', 'betas']

it.each([
  ['label_smoothing', 'labelSmoothing'],
  ['thread', 'threads'],
  ['top_p', 'topP'],
  ['TOPK', 'topK'],
  ['beta1', 'betas'],
  ['momentum', null],
  ['', null],
])('%s: %s is meant', (written, meant) => expect(nearestWord(written, words)).toBe(meant))

it('of words that are equally near the first', () => expect(nearestWord('topX', words)).toBe('topP'))

it('there may be none', () => expect(nearestWord('threads', [])).toBeNull())
