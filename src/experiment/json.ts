/**
 * JSON values, their canonical text, and content hashes: how two things are known to be the same.
 */
import { hash } from 'node:crypto'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same value always gives the same text: keys sorted, no white space (RFC 8785 in all that JSON.stringify allows). */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map(key => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`)
    return `{${members.join(',')}}`
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`canonicalJson: ${value} is not JSON`)
  return JSON.stringify(value)
}

/** SHA-256 of the canonical text, as 64 hexadecimal digits. */
export function contentHash(value: Json): string {
  return hash('sha256', canonicalJson(value), 'hex')
}
