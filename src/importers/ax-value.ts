/**
 * Values as Ax writes them into JSON: what JSON does not have is an object that says its type.
 */
import { parsePythonJson } from './python-json.ts'

export type AxObject = Readonly<Record<string, unknown>>

/** Null for what is no object. An ordered dictionary is a list of pairs in Ax. */
export function objectIn(value: unknown): AxObject | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { __type: type, value: pairs } = value as AxObject
  return type === 'OrderedDict' && Array.isArray(pairs) ? Object.fromEntries(pairs) : (value as AxObject)
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The `name` of an object: of a metric, an arm, a member of an enumeration. */
export function nameIn(value: unknown): string | null {
  const name = objectIn(value)?.['name']
  return typeof name === 'string' ? name : null
}

/** A number, a truth or a text; NaN and infinities are objects in Ax. */
export function plainIn(value: unknown): unknown {
  const { __type: type, value: inner } = objectIn(value) ?? {}
  if (type !== 'float') return value
  return Number(String(inner).replace(/^(-?)inf$/, '$1Infinity'))
}

/** Milliseconds since 1970, as if the moment were UTC: Ax writes no zone, so only differences mean something. */
export function timeIn(value: unknown): number | null {
  const text = typeof value === 'string' ? value : objectIn(value)?.['value']
  if (typeof text !== 'string') return null
  const time = Date.parse(`${text.replace(' ', 'T').replace(/(\.\d{3})\d+$/, '$1')}Z`)
  return Number.isNaN(time) ? null : time
}

/** The rows of a data frame, which is a text of JSON by column: `{"mean": {"0": 1.5}}`. */
export function rowsIn(frame: unknown): readonly AxObject[] {
  const text = objectIn(frame)?.['value']
  if (typeof text !== 'string') return []
  const columns = Object.entries(objectIn(parsePythonJson(text)) ?? {})
  const rows = new Map<string, Record<string, unknown>>()
  for (const [column, values] of columns) {
    for (const [index, value] of Object.entries(objectIn(values) ?? {})) {
      const row = rows.get(index) ?? {}
      rows.set(index, row)
      row[column] = value
    }
  }
  return [...rows.values()]
}
