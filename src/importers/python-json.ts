/**
 * JSON as Python writes it: NaN, Infinity and -Infinity stand in it as words, which JSON does not have.
 */
import type { Json } from '../experiment/json.ts'

/** Numbers too large for a double, which JSON.parse reads as infinite; nobody writes the second one. */
const infinite = '1e999'
const notANumber = '9e999'

/** Nothing that a program writes about a run is nested deeper, and what goes through values would run out of stack. */
const deepest = 200
export const tooDeep = `it is nested more than ${deepest} deep`

/** The value, in which numbers may be NaN or infinite. Throws like JSON.parse, and a sentence where it is nested too deep. */
export function parsePythonJson(text: string): unknown {
  const value = /NaN|Infinity/.test(text) ? parsedWithWords(text) : JSON.parse(text)
  if (isTooDeep(value)) throw new Error(tooDeep)
  return value
}

function parsedWithWords(text: string): unknown {
  const numbers = withNumbersForWords(text)
  const withNaN = (_: string, value: unknown, context?: { source?: string }) =>
    value === Number.POSITIVE_INFINITY && context?.source === notANumber ? Number.NaN : value
  try {
    return JSON.parse(numbers, withNaN)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new Error(tooDeep, { cause })
  }
}

/** Not by one pattern over the whole: of a text that was cut off it would try every way, and of a long one run out of stack. */
function withNumbersForWords(text: string): string {
  const pieces: string[] = []
  const marks = /"|NaN|Infinity/g
  let from = 0
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') {
      marks.lastIndex = endOfQuoted(text, mark.index) ?? text.length
      continue
    }
    pieces.push(text.slice(from, mark.index), mark[0] === 'NaN' ? notANumber : infinite)
    from = marks.lastIndex
  }
  pieces.push(text.slice(from))
  return pieces.join('')
}

/** Behind the quote that ends what the quote at `start` begins; null where none does. */
export function endOfQuoted(text: string, start: number): number | null {
  const quote = text[start]!
  for (let at = text.indexOf(quote, start + 1); at >= 0; at = text.indexOf(quote, at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
  return null
}

/** Whether a value is nested deeper than anything that a program writes. */
export function isTooDeep(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(member => isTooDeep(member, levels - 1))
}

/** The value as JSON: a number that is not finite becomes its name, and what JSON does not have is left out. */
export function asJson(value: unknown): Json {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(asJson)
  if (typeof value !== 'object') return null
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, asJson(member)]))
}
