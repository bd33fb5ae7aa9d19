/**
 * Values of flags, for programs that people start (commander): each of these reads the text behind a flag, or refuses it
 * with one sentence.
 */
import { InvalidArgumentError, Option } from 'commander'

export function wholeNumberFrom(least: number): (text: string) => number {
  return text => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isSafeInteger(value) || value < least)
      throw new InvalidArgumentError(`Expected a whole number from ${least} on.`)
    return value
  }
}

export function positiveNumber(text: string): number {
  const value = Number(text)
  if (!(Number.isFinite(value) && value > 0)) throw new InvalidArgumentError('Expected a positive number.')
  return value
}

/** A flag whose values are separated by commas; no text is an empty list. */
export function listOption<T>(
  flag: string,
  meaning: string,
  read: (text: string) => T,
  standard: readonly T[],
): Option {
  const values = (text: string) => text.split(',').flatMap(item => (item.trim() === '' ? [] : [read(item.trim())]))
  return new Option(`${flag} <list>`, meaning).argParser(values).default(standard, standard.join(','))
}

export function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return text => {
    const word = words.find(each => each === text)
    if (word === undefined)
      throw new InvalidArgumentError(`There is no ${JSON.stringify(text)}: expected ${words.join(', ')}.`)
    return word
  }
}
