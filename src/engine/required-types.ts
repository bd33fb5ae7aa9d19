/**
 * For callers that no type checker has seen: whether what they give is of the kind that the types say. Only what would otherwise fail halfway, or
 * be taken for something else without an error, is asked.
 */
import { nearestWord } from '../text/nearest-word.ts'

/** The names of all fields that a record, or one of several kinds, may have: the type forgets none. */
export type FieldsOf<T> = Readonly<Record<T extends unknown ? keyof T : never, true>>

/** An object, and nothing in it that would be left out of account, most often because it is misspelt. */
export function requireFields(
  place: string,
  value: unknown,
  known: Readonly<Record<string, true>>,
): asserts value is object {
  requireRecord(place, value)
  const problem = unknownField(value, known)
  if (problem) throw new Error(`${place}: ${problem}`)
}

/** What is wrong with the first field that is not known, or null. One that is undefined is as good as absent. */
export function unknownField(value: object, known: Readonly<Record<string, true>>): string | null {
  for (const field in value) {
    if (Object.hasOwn(known, field) || value[field as keyof typeof value] === undefined) continue
    const names = Object.keys(known)
    const meant = nearestWord(field, names)
    return `unknown option ${described(field)}: ${meant ? `did you mean ${meant}?` : `known are ${names.join(', ')}`}`
  }
  return null
}

export function requireRecord(place: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value))
    throw new Error(`${place} is ${described(value)}: expected an object`)
}

export function requireList(place: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${place} is ${described(value)}: expected an array`)
}

/** Tokens, positions and offsets. */
export function requireIntegers(place: string, value: unknown): asserts value is Int32Array {
  if (!(value instanceof Int32Array)) throw new Error(`${place} is ${described(value)}: expected an Int32Array`)
}

export function requireNumbers(place: string, value: unknown): asserts value is Float32Array {
  if (!(value instanceof Float32Array)) throw new Error(`${place} is ${described(value)}: expected a Float32Array`)
}

/** What an error calls it: short, whatever it is. */
export function described(value: unknown): string {
  if (Array.isArray(value)) return 'a plain array'
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const name: unknown = value.constructor?.name
  return name === 'Object' || typeof name !== 'string' ? 'a plain object' : `of type ${name}`
}
