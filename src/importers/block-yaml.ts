/**
 * YAML as programs write it (PyYAML and Go's yaml: W&B's config.yaml, MLflow's meta.yaml): one document of block mappings and sequences,
 * scalars in every style, lists in brackets, anchors and aliases. Tags are passed over (`!!python/tuple` is a list); keys that
 * are no scalars, and several documents in a file, are refused.
 */
import type { Json } from '../experiment/json.ts'
import { type Anchors, closingQuote, deepest, openIn, plainScalar, readFlow, unquoted } from './yaml-scalar.ts'

interface Line {
  readonly indent: number
  readonly content: string
}

interface Reader {
  readonly lines: Line[]
  at: number
  /** Of what is being read, for sentences about it. */
  lineNumber: number
  readonly anchors: Anchors
}

/** Throws a sentence that names the line where the text is not of this kind. */
export function readBlockYaml(text: string): Json {
  const lines = documentIn(text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)).map(line => ({
    indent: /^ */.exec(line)![0].length,
    content: line.trim(),
  }))
  const reader: Reader = { lines, at: 0, lineNumber: 1, anchors: anchorsOf() }
  try {
    const value = readBlock(reader, 0, 0)
    const rest = significant(reader)
    if (rest) throw new Error(`"${rest.content}" belongs to nothing above it`)
    return value
  } catch (error) {
    throw new Error(`line ${reader.lineNumber}: ${(error as Error).message}`, { cause: error })
  }
}

/** The lines without the marks around a document; marks are at the very beginning of a line. */
function documentIn(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex(line => /^\.\.\.\s*$/.test(line))
  const whole = end < 0 ? lines : lines.slice(0, end)
  const start = whole.findIndex(line => line.trim() !== '' && !/^[#%]/.test(line))
  return whole.map((line, index) =>
    index === start ? line.replace(/^---(?=\s|$)/, '   ') : /^%/.test(line) && index < start ? '' : line,
  )
}

/** The next line that is not blank and no comment, which is where the reader then stands. */
function significant(reader: Reader): Line | undefined {
  while (reader.at < reader.lines.length && /^(#|$)/.test(reader.lines[reader.at]!.content)) reader.at++
  if (reader.at < reader.lines.length) reader.lineNumber = reader.at + 1
  return reader.lines[reader.at]
}

/** The node that begins on the next line, if that is indented at least so much; null otherwise, as YAML has it. */
function readBlock(reader: Reader, indent: number, depth: number): Json {
  if (depth > deepest) throw new Error(`it is nested more than ${deepest} deep`)
  const line = significant(reader)
  if (!line || line.indent < indent) return null
  if (isItem(line)) return readSequence(reader, line.indent, depth)
  if (/^\?(\s|$)/.test(line.content) || keyOf(line.content)) return readMapping(reader, line.indent, depth)
  reader.at++
  return readRest(reader, line.content, indent - 1, depth)
}

function readMapping(reader: Reader, indent: number, depth: number): Json {
  const members = new Map<string, Json>()
  for (let line = significant(reader); line?.indent === indent && !isItem(line); line = significant(reader)) {
    if (/^\?(\s|$)/.test(line.content)) {
      members.set(readLongKey(reader, indent, depth), readLongValue(reader, indent, depth))
      continue
    }
    const found = keyOf(line.content)
    if (!found) throw new Error(`"${line.content}" has no key`)
    reader.at++
    members.set(found.key, readRest(reader, found.rest, indent, depth + 1, true))
  }
  // Not by assignment: a key may be called __proto__.
  return Object.fromEntries(members)
}

/** `? key`, as PyYAML writes keys that are long or have several lines. */
function readLongKey(reader: Reader, indent: number, depth: number): string {
  const { content } = reader.lines[reader.at]!
  const rest = content.slice(1).trimStart()
  reader.lines[reader.at] = { indent: indent + content.length - rest.length, content: rest }
  const key = readBlock(reader, indent + 1, depth + 1)
  if (typeof key === 'object' && key !== null) throw new Error(`"${content}" is a key, but no scalar`)
  return String(key)
}

function readLongValue(reader: Reader, indent: number, depth: number): Json {
  const line = significant(reader)
  if (line?.indent !== indent || !/^:(\s|$)/.test(line.content)) return null
  const rest = line.content.slice(1).trimStart()
  reader.lines[reader.at] = { indent: indent + Math.max(1, line.content.length - rest.length), content: rest }
  return readBlock(reader, indent + 1, depth + 1)
}

function readSequence(reader: Reader, indent: number, depth: number): Json {
  const items: Json[] = []
  for (let line = significant(reader); line?.indent === indent && isItem(line); line = significant(reader)) {
    const rest = line.content.slice(1).trimStart()
    if (rest === '' || rest.startsWith('#')) {
      reader.at++
      items.push(readBlock(reader, indent + 1, depth + 1))
    } else {
      // `- a: 1` begins a mapping whose column is that of its first key.
      reader.lines[reader.at] = { indent: indent + line.content.length - rest.length, content: rest }
      items.push(readBlock(reader, indent + 1, depth + 1))
    }
  }
  return items
}

/** What follows a key or a dash: the rest of the line, with the lines that continue it, or a block below. */
function readRest(reader: Reader, rest: string, indent: number, depth: number, isValue = false): Json {
  const [, properties, text] = /^((?:[&!]\S*(?:\s+|$))*)([\s\S]*)$/.exec(rest)!
  const anchor = /&(\S+)/.exec(properties!)?.[1]
  const value = readUnnamed(reader, text!, indent, depth, isValue, /!!str\b/.test(properties!))
  if (anchor !== undefined) reader.anchors.mark(anchor, value)
  return value
}

function readUnnamed(
  reader: Reader,
  text: string,
  indent: number,
  depth: number,
  isValue: boolean,
  isText: boolean,
): Json {
  if (text === '' || text.startsWith('#')) {
    const below = significant(reader)
    // A sequence may stand in the column of its key.
    return readBlock(reader, isValue && below && isItem(below) ? indent : indent + 1, depth)
  }
  const block = /^([|>])([-+]?)(\d?)([-+]?)\s*(#.*)?$/.exec(text)
  if (block) {
    const [, style, before, digit, after] = block
    return readBlockScalar(reader, style!, before! || after!, indent, digit ? Number(digit) : null)
  }
  if (/^["'[{]/.test(text)) {
    const whole = withoutComment(continued(reader, text))
    return /^["']/.test(whole) ? unquoted(whole) : readFlow(whole, reader.anchors)
  }
  if (text.startsWith('*')) return reader.anchors.repeat(text.replace(/\s+#.*$/, '').slice(1))
  const plain = plainText(reader, text, indent)
  return isText ? plain : plainScalar(plain)
}

/** The lines of a literal (`|`) or folded (`>`) scalar: everything indented deeper than its key. */
function readBlockScalar(reader: Reader, style: string, chomp: string, indent: number, given: number | null): string {
  const lines: string[] = []
  let own = given === null ? null : indent + given
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at]!
    if (line.content !== '') {
      if (line.indent <= indent || (own !== null && line.indent < own)) break
      own ??= line.indent
    }
    lines.push(line.content === '' ? '' : ' '.repeat(line.indent - own!) + line.content)
  }
  while (chomp !== '+' && lines.at(-1) === '') lines.pop()
  const body = style === '|' ? lines.join('\n') : folded(lines)
  return chomp === '-' || lines.length === 0 ? body : `${body}\n`
}

/** A value in quotes or brackets ends within this many lines, or it has no end. */
const mostLines = 2000

/** A quoted or bracketed value with the lines it needs to be closed. */
function continued(reader: Reader, start: string): string {
  const first = reader.at
  let text = start
  let blank = 0
  for (let open = openIn(text); open !== null; open = openIn(text), reader.at++) {
    const line = reader.lines[reader.at]
    if (!line || reader.at > first + mostLines) throw new Error(`"${start.slice(0, 40)}" is never closed`)
    if (line.content === '') blank++
    else {
      if (blank > 0 && open !== 'bracket') text += '\n'.repeat(blank) + line.content
      // A backslash at the end of a line in double quotes joins it to the next without a space.
      else if (open === 'double quote' && /(^|[^\\])(\\\\)*\\$/.test(text)) text = text.slice(0, -1) + line.content
      else text += ` ${line.content}`
      blank = 0
    }
  }
  return text
}

/** A plain scalar and the deeper lines that go on with it; a comment ends it. */
function plainText(reader: Reader, start: string, indent: number): string {
  const lines = [start.replace(/\s#.*$/, '').trimEnd()]
  if (/\s#/.test(start)) return lines[0]!
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at]!
    if (line.content !== '' && (line.indent <= indent || line.content.startsWith('#'))) break
    lines.push(line.content)
  }
  while (lines.at(-1) === '') lines.pop()
  return folded(lines)
}

/** Line ends become spaces, blank lines become line ends; lines that are indented deeper stay as they are. */
function folded(lines: readonly string[]): string {
  let text = lines[0] ?? ''
  let blank = 0
  let isIndented = text.startsWith(' ')
  for (const line of lines.slice(1)) {
    if (line === '') {
      blank++
      continue
    }
    const indented = line.startsWith(' ')
    const breaks = indented || isIndented ? blank + 1 : blank
    text += (breaks > 0 ? '\n'.repeat(breaks) : ' ') + line
    isIndented = indented
    blank = 0
  }
  return text + '\n'.repeat(blank)
}

/** How many values aliases may repeat in all: a few lines of aliases of aliases can stand for billions. */
const mostRepeats = 100_000

function anchorsOf(): Anchors {
  const values = new Map<string, Json>()
  let repeats = 0
  return {
    mark: (name, value) => values.set(name, value),
    repeat: name => {
      const value = values.get(name)
      if (value === undefined) throw new Error(`*${name} stands for nothing above it`)
      repeats += sizeOf(value)
      if (repeats > mostRepeats) throw new Error('its aliases repeat too much')
      return value
    },
  }
}

function sizeOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, member: Json) => sum + sizeOf(member), 1)
}

function isItem(line: Line): boolean {
  return line.content === '-' || /^-\s/.test(line.content)
}

function keyOf(content: string): { readonly key: string; readonly rest: string } | null {
  if (/^["']/.test(content)) {
    const end = closingQuote(content, 0)
    const rest = end < 0 ? null : /^\s*:(?:\s+([\s\S]*))?$/.exec(content.slice(end + 1))
    return rest && { key: unquoted(content.slice(0, end + 1)), rest: rest[1] ?? '' }
  }
  const match = /^([^\s#&*!|>%@`{}[\],](?:[^:#]|:(?=\S)|(?<=\S)#)*?)\s*:(?:\s+([\s\S]*))?$/.exec(content)
  return match && { key: match[1]!, rest: match[2] ?? '' }
}

function withoutComment(text: string): string {
  const end = /^["']/.test(text)
    ? closingQuote(text, 0) + 1
    : Math.max(text.lastIndexOf(']'), text.lastIndexOf('}')) + 1
  const after = text.slice(end).trim()
  if (after !== '' && !after.startsWith('#')) throw new Error(`"${after}" stands after a closed value`)
  return text.slice(0, end)
}
