/**
 * Copies of what is sent to another thread. Sending by itself would copy, for a view of part of a buffer, the whole buffer: a batch cut
 * from a corpus would take the corpus with it.
 */

export interface Copied<T> {
  readonly value: T
  /** The copies' buffers, which can be handed over. */
  readonly buffers: ArrayBuffer[]
}

/** Copies arrays, maps and plain objects, at any depth; everything else is as it was, and copied or refused when it is sent. */
export function copied<T>(value: T): Copied<T> {
  const buffers: ArrayBuffer[] = []
  return { value: copy(value, buffers) as T, buffers }
}

function copy(value: unknown, buffers: ArrayBuffer[]): unknown {
  if (value instanceof Int32Array || value instanceof Float32Array) {
    const array = value.slice()
    buffers.push(array.buffer as ArrayBuffer)
    return array
  }
  if (Array.isArray(value)) return value.map(element => copy(element, buffers))
  if (value instanceof Map) return new Map([...value].map(([key, element]) => [key, copy(element, buffers)]))
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, element]) => [key, copy(element, buffers)]))
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
