/** Text with JSON in it, as records: one a line (JSONL), or a list, or a single one. */
import { isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'

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
  const whole = /^\s*\[/.test(text) || /^\s*\{\s*[\r\n]/.test(text) ? parsed(text) : undefined
  if (whole !== undefined) {
    const list = Array.isArray(whole) ? (whole as readonly Json[]) : [whole as Json]
    for (const [index, value] of list.entries()) yield recordOf(index + 1, value, JSON.stringify(value))
    return
  }
  let line = 0
  for (const [content] of text.matchAll(/[^\r\n]*(?:\r\n|\n|\r|$)/g)) {
    line++
    const trimmed = content.trim()
    if (trimmed !== '') yield recordOf(line, parsed(trimmed), trimmed)
  }
}

function recordOf(line: number, value: Json | undefined, text: string): JsonRecord | BrokenRecord {
  if (isJsonObject(value)) return { line, record: value, text }
  return { line, text, reason: value === undefined ? 'is no JSON: cut off, or damaged' : 'is no record with names' }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    try {
      return JSON.parse(text.replace(/(?<=[:,[]\s*)(-?Infinity|NaN)(?=\s*[,}\]])/g, '"$1"')) as Json
    } catch {
      return undefined
    }
  }
}
