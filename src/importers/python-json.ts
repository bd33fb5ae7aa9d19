/**
 * JSON as Python writes it: NaN, Infinity and -Infinity stand in it as words, which JSON does not have.
 */
import type { Json } from '../experiment/json.ts'

/** Numbers too large for a double, which JSON.parse reads as infinite; nobody writes the second one. */
const infinite = '1e999'
const notANumber = '9e999'

/** The value, in which numbers may be NaN or infinite. Throws like JSON.parse. */
export function parsePythonJson(text: string): unknown {
  if (!/NaN|Infinity/.test(text)) return JSON.parse(text)
  const words = /"(?:[^"\\]+|\\.)*"|Infinity|NaN/gs
  const numbers = text.replace(words, word => (word === 'NaN' ? notANumber : word === 'Infinity' ? infinite : word))
  const withNaN = (_: string, value: unknown, context?: { source?: string }) =>
    value === Number.POSITIVE_INFINITY && context?.source === notANumber ? Number.NaN : value
  return JSON.parse(numbers, withNaN)
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
