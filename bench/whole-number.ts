/** For flags of programs in bench/: a whole number from 1 on, or commander's sentence. */
import { InvalidArgumentError } from 'commander'

export function wholeNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('Expected a whole number from 1 on.')
  }
  return value
}
