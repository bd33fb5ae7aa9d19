/**
 * Numbers of options as a person reads them: six significant digits, and more only where two of one row would look alike. The stored
 * values stay as they are.
 */

const enough = 6

/** `0.017241` for 0.017241017097437698; what is short already stays as it is written. */
export function shortNumber(value: number, digits = enough): string {
  const written = String(value)
  if (written.replace(/^-?0*\.?0*|e.*$|\./g, '').length <= digits || Number.isInteger(value)) return written
  return String(Number(value.toPrecision(digits)))
}

/** The digits with which two numbers are told apart, at least six. */
export function digitsToTell(first: unknown, second: unknown): number {
  if (typeof first !== 'number' || typeof second !== 'number' || first === second) return enough
  let digits = enough
  while (digits < 17 && shortNumber(first, digits) === shortNumber(second, digits)) digits++
  return digits
}
