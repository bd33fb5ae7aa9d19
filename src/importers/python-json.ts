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
  // A text that nothing ends, as in a line that was cut off, goes to the end at once: no other way through it is tried.
  const words = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|Infinity|NaN/gs
  const numbers = text.replace(words, word => (word === 'NaN' ? notANumber : word === 'Infinity' ? infinite : word))
  const withNaN = (_: string, value: unknown, context?: { source?: string }) =>
    value === Number.POSITIVE_INFINITY && context?.source === notANumber ? Number.NaN : value
  try {
    return JSON.parse(numbers, withNaN)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new Error(tooDeep, { cause })
  }
}

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
