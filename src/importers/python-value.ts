/**
 * Values as Python prints them: numbers, True, None, nan, strings in either quote, and lists, tuples, sets and dictionaries of these, one in
 * the other; JSON is read as well. What no literal can say (`<Table at 0x7f…>`, `PosixPath('a')`, `array([1, 2])`) is kept as its text.
 * Read character by character, never evaluated.
 */
import type { Json, JsonObject } from '../experiment/json.ts'
import { endOfQuoted } from './python-json.ts'

/** Nothing a person sets is nested deeper; a text that is comes from an attack or an accident. */
const deepest = 50

const words: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null],
])

/** The value a text writes, if it is one whole literal with brackets around it; undefined where it is anything else. */
export function readPythonValue(text: string): Json | undefined {
  const trimmed = text.trim()
  if (!/^[[({]/.test(trimmed)) return undefined
  const reader = { text: trimmed, at: 0 }
  const value = readValue(reader, 0)
  return value !== undefined && reader.at === trimmed.length ? value : undefined
}

/** A text that holds one value, such as a parameter: a number, True or False, brackets; any other text is itself. */
export function readPythonScalar(text: string): Json {
  const trimmed = text.trim()
  const number = numberOf(trimmed)
  if (number !== null) return number
  return words.has(trimmed) ? words.get(trimmed)! : (readPythonValue(trimmed) ?? text)
}

interface Reader {
  readonly text: string
  at: number
}

/** A number that loses nothing as a number: no leading zeros (identifiers), no integer too large to be exact. */
function numberOf(text: string): number | null {
  if (!/^[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?$/.test(text)) return null
  const value = Number(text)
  if (!Number.isFinite(value) || (/^[+-]?\d+$/.test(text) && !Number.isSafeInteger(value))) return null
  return value === 0 ? 0 : value
}

function readValue(reader: Reader, depth: number): Json | undefined {
  if (depth > deepest) return undefined
  skipSpace(reader)
  const opening = reader.text[reader.at]
  if (opening === '{') return readBraces(reader, depth)
  if (opening === '[' || opening === '(') return readItems(reader, opening === '[' ? ']' : ')', depth)
  return readQuoted(reader) ?? readBare(reader)
}

function readItems(reader: Reader, close: string, depth: number): Json[] | undefined {
  const items: Json[] = []
  reader.at++
  for (;;) {
    skipSpace(reader)
    if (reader.text[reader.at] === close) break
    const item = readValue(reader, depth + 1)
    if (item === undefined) return undefined
    items.push(item)
    if (!readSeparator(reader, close)) return undefined
  }
  reader.at++
  return items
}

/** A dictionary, or a set, which is read as a list. */
function readBraces(reader: Reader, depth: number): Json | undefined {
  const members = new Map<string, Json>()
  const items: Json[] = []
  reader.at++
  for (;;) {
    skipSpace(reader)
    if (reader.text[reader.at] === '}') break
    const key = readValue(reader, depth + 1)
    if (key === undefined) return undefined
    skipSpace(reader)
    if (reader.text[reader.at] === ':') {
      reader.at++
      const value = readValue(reader, depth + 1)
      if (value === undefined) return undefined
      members.set(typeof key === 'string' ? key : JSON.stringify(key), value)
    } else items.push(key)
    if (!readSeparator(reader, '}')) return undefined
  }
  reader.at++
  // Not by assignment: a key may be called __proto__.
  return items.length > 0 ? items : (Object.fromEntries(members) as JsonObject)
}

/** Goes past a comma; true there, and before the closing bracket. */
function readSeparator(reader: Reader, close: string): boolean {
  skipSpace(reader)
  if (reader.text[reader.at] === ',') {
    reader.at++
    return true
  }
  return reader.text[reader.at] === close
}

function readQuoted(reader: Reader): string | undefined {
  const { text } = reader
  const start = /[rRbBuU]/.test(text[reader.at] ?? '') ? reader.at + 1 : reader.at
  if (text[start] !== '"' && text[start] !== "'") return undefined
  const end = endOfQuoted(text, start)
  if (end === null) return undefined
  reader.at = end
  return unescaped(text.slice(start + 1, end - 1))
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '0': '\0' }

function unescaped(inner: string): string {
  return inner.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|([\s\S]))/g, (_, byte, unit, other: string) =>
    other === undefined ? String.fromCharCode(Number.parseInt(byte ?? unit, 16)) : (escapes[other] ?? other),
  )
}

/** A number, a word, or the text of something else up to the comma, colon or bracket that ends it; nan and inf stay texts. */
function readBare(reader: Reader): Json | undefined {
  const start = reader.at
  const open: string[] = []
  for (; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at]!
    if (open.length === 0 && /[,:\]})]/.test(character)) break
    if (/["']/.test(character)) {
      if (readQuoted(reader) === undefined) return undefined
      reader.at--
    } else if (/[[({<]/.test(character)) open.push(character)
    else if (/[\])}>]/.test(character)) open.pop()
  }
  const text = reader.text.slice(start, reader.at).trim()
  if (text === '' || open.length > 0) return undefined
  return numberOf(text) ?? (words.has(text) ? words.get(text)! : text)
}

function skipSpace(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at++
}
