/** Text with JSON in it, as records: one a line (JSONL), or a list, or a single one. */
import { isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { asJson, isTooDeep, parsePythonJson, tooDeep } from './python-json.ts'

export interface JsonRecord {
  /** Line of its first character; in a list, the number of the record. */
  readonly line: number
  readonly record: JsonObject
  readonly text: string
}

export interface JsonRecords {
  readonly records: readonly JsonRecord[]
  readonly broken: readonly BrokenRecord[]
}

export interface BrokenRecord {
  readonly line: number
  readonly text: string
  readonly reason: string
}

/** A line that is cut off or no object is listed as broken. NaN and Infinity, which Python writes, are read as text. */
export function readJsonRecords(text: string): JsonRecords {
  const records: JsonRecord[] = []
  const broken: BrokenRecord[] = []
  for (const each of jsonRecords(text)) {
    if ('record' in each) records.push(each)
    else broken.push(each)
  }
  return { records, broken }
}

/** One after the other: of a million records only one is needed at a time. */
export function* jsonRecords(text: string): Generator<JsonRecord | BrokenRecord> {
  const isWhole = /^\s*\[/.test(text) || /^\s*\{\s*[\r\n]/.test(text)
  const whole = isWhole ? valueIn(text) : null
  if (whole !== null && 'value' in whole) {
    const list = Array.isArray(whole.value) ? (whole.value as readonly Json[]) : [whole.value]
    for (const [index, value] of list.entries()) yield recordOf(index + 1, { value })
    return
  }
  let line = 0
  for (const [content] of text.matchAll(/[^\r\n]*(?:\r\n|\n|\r|$)/g)) {
    line++
    const trimmed = content.trim()
    if (trimmed !== '') yield recordOf(line, valueIn(trimmed), trimmed)
  }
}

/** `text` as it is written; of what stands in a list, as JSON writes it. */
function recordOf(line: number, read: Read, text?: string): JsonRecord | BrokenRecord {
  if ('reason' in read) return { line, text: text ?? '', reason: read.reason }
  const { value } = read
  if (isTooDeep(value)) return { line, text: text ?? '', reason: `cannot be used: ${tooDeep}` }
  const written = text ?? JSON.stringify(value)
  return isJsonObject(value)
    ? { line, record: value, text: written }
    : { line, text: written, reason: 'is no record with names' }
}

type Read = { readonly value: Json } | { readonly reason: string }

/** What JSON.parse reads as infinite, or not at all. */
const notFinite = /NaN|Infinity|[eE]\+?\d{3}|\d{309}/

function valueIn(text: string): Read {
  try {
    return { value: notFinite.test(text) ? asJson(parsePythonJson(text)) : (JSON.parse(text) as Json) }
  } catch (error) {
    const isDamaged = error instanceof SyntaxError
    return { reason: isDamaged ? 'is no JSON: cut off, or damaged' : `cannot be used: ${(error as Error).message}` }
  }
}
