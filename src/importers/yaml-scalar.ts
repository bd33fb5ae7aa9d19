/**
 * What stands on the right of a key in YAML: plain and quoted scalars, lists and mappings in brackets. `block-yaml.ts` has the lines.
 */
import type { Json } from '../experiment/json.ts'

/** A value in brackets and quotes may hold others; nothing that people set is nested deeper. */
export const deepest = 50

/** What `&name` marks, and `*name` repeats. */
export interface Anchors {
  mark(name: string, value: Json): void
  /** Throws a sentence where nothing has the name. */
  repeat(name: string): Json
}

/** Throws a sentence where the text is no scalar, list or mapping of YAML. */
export function readFlow(text: string, anchors: Anchors): Json {
  const reader = { text, at: 0, anchors }
  const value = readValue(reader, 0, false)
  skipSpace(reader)
  if (reader.at < text.length) throw new Error(`"${shortened(text)}" goes on after its end`)
  return value
}

/** What a text leaves open that the next line may close: a quote, a bracket, or nothing. */
export function openIn(text: string): 'double quote' | 'single quote' | 'bracket' | null {
  let open = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (/["']/.test(character) && /[\s[{,:]/.test(text[at - 1] ?? ' ')) {
      at = closingQuote(text, at)
      if (at < 0) return character === '"' ? 'double quote' : 'single quote'
      if (open === 0) return null
    } else if (/[[{]/.test(character)) open++
    else if (/[\]}]/.test(character)) open--
  }
  return open > 0 ? 'bracket' : null
}

/** Index of the quote that closes the one at `start`; negative without one. */
export function closingQuote(text: string, start: number): number {
  const pattern = text[start] === '"' ? /"(?:[^"\\]|\\[\s\S])*"/y : /'(?:[^']|'')*'/y
  pattern.lastIndex = start
  const match = pattern.exec(text)
  return match ? start + match[0].length - 1 : -1
}

/** null, booleans and numbers by YAML 1.2; dates, infinities and NaN stay text, since JSON has no word for them. */
export function plainScalar(text: string): Json {
  if (/^(~|null|Null|NULL|)$/.test(text)) return null
  if (/^(true|True|TRUE)$/.test(text)) return true
  if (/^(false|False|FALSE)$/.test(text)) return false
  if (!/^[-+]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][-+]?\d+)?$/.test(text)) return text
  const value = Number(text)
  const isExact = Number.isFinite(value) && (!/^[-+]?\d+$/.test(text) || Number.isSafeInteger(value))
  return isExact ? (value === 0 ? 0 : value) : text
}

export function unquoted(quoted: string): string {
  const inner = quoted.slice(1, -1)
  if (quoted.startsWith("'")) return inner.replaceAll("''", "'")
  return inner.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/g,
    (_, a, b, c, other: string) => (other === undefined ? characterOf(a ?? b ?? c) : (escapes[other] ?? other)),
  )
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
}

function characterOf(hexadecimal: string): string {
  const code = Number.parseInt(hexadecimal, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
}

interface Reader {
  readonly text: string
  at: number
  readonly anchors: Anchors
}

function readValue(reader: Reader, depth: number, inside: boolean): Json {
  if (depth > deepest) throw new Error(`"${shortened(reader.text)}" is nested more than ${deepest} deep`)
  skipSpace(reader)
  const character = reader.text[reader.at]
  if (inside && (character === '&' || character === '!')) return readMarked(reader, depth)
  if (character === '[') return readItems(reader, depth)
  if (character === '{') return readMembers(reader, depth)
  if (character === '"' || character === "'") return readQuoted(reader)
  const plain = inside ? readPlain(reader) : reader.text.slice(reader.at).trim()
  if (!inside) reader.at = reader.text.length
  return plain.startsWith('*') ? reader.anchors.repeat(plain.slice(1)) : plainScalar(plain)
}

/** A value with an anchor, or with a tag, which is passed over. */
function readMarked(reader: Reader, depth: number): Json {
  const pattern = /([&!])([^\s,[\]{}]*)/y
  pattern.lastIndex = reader.at
  const [mark, sign, name] = pattern.exec(reader.text)!
  reader.at += mark.length
  const value = readValue(reader, depth + 1, true)
  if (sign === '&') reader.anchors.mark(name!, value)
  return value
}

/** In brackets a comma, a bracket or a colon with a space ends a plain scalar. */
function readPlain(reader: Reader): string {
  const pattern = /(?:[^,:\]}]|:(?!\s|[,\]}]|$))*/y
  pattern.lastIndex = reader.at
  const text = pattern.exec(reader.text)![0]
  reader.at += text.length
  return text.trim()
}

/** A key is text, also where it looks like a number: `1e5` is not 100000. */
function readKey(reader: Reader): string {
  if (/^\?\s/.test(reader.text.slice(reader.at, reader.at + 2))) reader.at++
  skipSpace(reader)
  const character = reader.text[reader.at]
  if (character === '[' || character === '{') {
    throw new Error(`"${shortened(reader.text)}" has a key that is no scalar`)
  }
  return character === '"' || character === "'" ? readQuoted(reader) : readPlain(reader)
}

function readQuoted(reader: Reader): string {
  const end = closingQuote(reader.text, reader.at)
  if (end < 0) throw new Error(`"${shortened(reader.text)}" has a quote that nothing closes`)
  const quoted = reader.text.slice(reader.at, end + 1)
  reader.at = end + 1
  return unquoted(quoted)
}

function readItems(reader: Reader, depth: number): Json[] {
  const items: Json[] = []
  reader.at++
  while (!ends(reader, ']')) {
    items.push(readValue(reader, depth + 1, true))
    separate(reader, ']')
  }
  return items
}

function readMembers(reader: Reader, depth: number): Json {
  const members = new Map<string, Json>()
  reader.at++
  while (!ends(reader, '}')) {
    const key = readKey(reader)
    skipSpace(reader)
    let value: Json = null
    if (reader.text[reader.at] === ':') {
      reader.at++
      value = readValue(reader, depth + 1, true)
    }
    members.set(key, value)
    separate(reader, '}')
  }
  return Object.fromEntries(members)
}

/** Goes past the closing bracket if it stands here. */
function ends(reader: Reader, close: string): boolean {
  skipSpace(reader)
  if (reader.text[reader.at] !== close) return false
  reader.at++
  return true
}

function separate(reader: Reader, close: string): void {
  skipSpace(reader)
  if (reader.text[reader.at] === ',') reader.at++
  else if (reader.text[reader.at] !== close) {
    throw new Error(`"${shortened(reader.text)}" has neither "," nor "${close}" where one belongs`)
  }
}

function skipSpace(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at++
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
