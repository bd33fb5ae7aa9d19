/**
 * What is fixed in this experiment: the text, how it is split, how long training may be, and how a model is measured.
 * Never edited: a result is worth something only while all results are measured the same way.
 */
import { readFileSync } from 'node:fs'

/** How many bytes a run may learn from, counted each time one is predicted. */
export const TRAINING_BYTES = 80_000

const file = readFileSync(new URL('data/moby-dick.txt', import.meta.url))

/** The bytes that occur, in order. Texts are given as places in it, from 0. */
export const alphabet = Uint8Array.from(new Set(file)).sort()
const place = new Uint8Array(256)
alphabet.forEach((byte, index) => {
  place[byte] = index
})

/** The last chapter of the file is held out. */
const lastChapter = file.lastIndexOf('CHAPTER ')
export const training = file.subarray(0, lastChapter).map(byte => place[byte])
export const validation = file.subarray(lastChapter).map(byte => place[byte])

/**
 * Bits per byte on the held-out chapter, lower is better. `logProbability(text, position)` is the natural logarithm of the
 * probability that a model gives to `text[position]`, having seen only what stands before it.
 */
export function evaluateBpb(logProbability) {
  const first = 64
  let sum = 0
  for (let position = first; position < validation.length; position++) sum += logProbability(validation, position)
  return -sum / Math.LN2 / (validation.length - first)
}
