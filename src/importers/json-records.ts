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
  readonly broken: readonly { readonly line: number; readonly text: string; readonly reason: string }[]
}

/** A line that is cut off or no object is listed as broken. NaN and Infinity, which Python writes, are read as text. */
export function readJsonRecords(text: string): JsonRecords {
  const whole = /^\s*\[/.test(text) || /^\s*\{\s*[\r\n]/.test(text) ? parsed(text) : undefined
  if (whole !== undefined) {
    const list = Array.isArray(whole) ? (whole as readonly Json[]) : [whole as Json]
    return sorted(list.map((value, index) => ({ line: index + 1, value, text: JSON.stringify(value) })))
  }
  const lines = text.split(/\r\n|\n|\r/)
  return sorted(
    lines.flatMap((content, index) =>
      content.trim() === '' ? [] : [{ line: index + 1, value: parsed(content), text: content }],
    ),
  )
}

function sorted(all: readonly { line: number; value: Json | undefined; text: string }[]): JsonRecords {
  const records: JsonRecord[] = []
  const broken: { line: number; text: string; reason: string }[] = []
  for (const { line, value, text } of all) {
    if (isJsonObject(value)) records.push({ line, record: value, text })
    else
      broken.push({
        line,
        text,
        reason: value === undefined ? 'is no JSON: cut off, or damaged' : 'is no record with names',
      })
  }
  return { records, broken }
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
