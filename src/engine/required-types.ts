/**
 * For callers that no type checker has seen: whether what they give is of the kind that the types say. Only what would otherwise fail halfway, or
 * be taken for something else without an error, is asked.
 */

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
