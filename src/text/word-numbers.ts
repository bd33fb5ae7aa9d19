/**
 * Texts as the numbers of their words: read once, they take a fraction of the memory, and are counted without looking at letters. Every
 * distinct word has one number for as long as the process lives; numbers say nothing but which words are equal.
 */
import { tokens, wordsIn } from './words.ts'

const numbers = new Map<string, number>()
const spellings: string[] = []

/** Tokens come again and again, and most of the time goes into taking them apart. */
const numbersByToken = new Map<string, readonly number[]>()

/** The words of a text in their order, by number. */
export function wordNumbers(text: string): Int32Array {
  const result: number[] = []
  for (const token of tokens(text)) {
    const known = numbersByToken.get(token) ?? wordsIn(token).map(numberOf)
    numbersByToken.set(token, known)
    for (const number of known) result.push(number)
  }
  return new Int32Array(result)
}

/** The word of a number that `wordNumbers` has given. */
export function spelled(number: number): string {
  return spellings[number]!
}

function numberOf(word: string): number {
  const known = numbers.get(word)
  if (known !== undefined) return known
  numbers.set(word, spellings.length)
  spellings.push(word)
  return spellings.length - 1
}
