/**
 * Assignments of literals in one line of source code: constants, mapping entries, keyword arguments, argparse defaults.
 * Reads single lines because a hunk is all there is of the file; what spans lines is left out.
 */
import type { Json } from './json.ts'
import { readLiteral, skipSpace } from './literal.ts'

export interface LiteralAssignment {
  readonly name: string
  readonly value: Json
}

type Language = 'python' | 'script' | 'yaml' | 'data'

const languages: Readonly<Record<string, Language>> = {
  ...named('python', 'py pyi jl sh bash r'),
  ...named('script', 'js mjs cjs jsx ts mts cts tsx rs go c h cc cpp hpp cu cuh java kt swift lua scala'),
  ...named('yaml', 'yaml yml'),
  ...named('data', 'toml ini cfg conf json jsonc json5 gin properties env'),
}

/** Lines beyond this are data or minified code. */
const longestLine = 2000

/** `name =`, `name: Type =`, `name:`, `"name":`, `self.name =`; group 1 or 2 is the name, group 3 the sign. */
const target =
  /(?:([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)|"([^"\\]+)"|'([^'\\]+)')\s*(?::\s*[A-Za-z_][\w.]*(?:\[[\w.,| []*\]+)?(?:\s*\|\s*\w+)*\s*(?==)(?!==))?(=(?![=>])|:(?![:=]))/y
const argument = /add_argument\(\s*["']--?([\w-]+)["']/

/**
 * The language of a file by its name, null for text that has no assignments (documents, tables) or nobody's choices
 * (lock files).
 */
export function languageOf(file: string): Language | null {
  if (/(?:^|[-_./])lock\.(?:json|ya?ml)$/i.test(file)) return null
  return languages[/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? ''] ?? null
}

/** All literal assignments of the line, left to right. */
export function literalAssignments(line: string, language: Language): LiteralAssignment[] {
  if (line.length > longestLine) return []
  const found: LiteralAssignment[] = []
  const flag = argument.exec(line)?.[1]
  const slashes = language === 'python'
  let at = 0
  // What stands before a target: nothing, an opening bracket, a separator, or a word such as `const`.
  let before = ''
  while (at < line.length) {
    const next = skipSpace(line, at)
    if (next >= line.length || startsComment(line, next, language)) break
    at = next
    target.lastIndex = at
    const hit = target.exec(line)
    if (hit && mayStand(before, hit[4]!)) {
      const name = hit[1] ?? hit[2] ?? hit[3]!
      const after = at + hit[0].length
      const literal = readLiteral(line, after, slashes)
      if (literal && endsThere(line, literal.end, language)) {
        found.push({ name: flag !== undefined && name === 'default' ? flag : name, value: literal.value })
        at = literal.end
        before = ''
        continue
      }
      const bare = language === 'yaml' && hit[4] === ':' ? bareWord(line, after) : null
      if (bare !== null) {
        found.push({ name, value: bare })
        break
      }
      at = after
      before = hit[4]!
      continue
    }
    const token = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?|[\w$.]+|./y
    token.lastIndex = at
    before = token.exec(line)![0]
    at += before.length
  }
  return found
}

const declarations = new Set(
  'const let var export static final readonly public private local mut constexpr int float double size_t auto'.split(
    ' ',
  ),
)

function mayStand(before: string, sign: string): boolean {
  if (before === '' || before === '{' || before === ',') return true
  if (sign === '=') return before === '(' || before === ';' || declarations.has(before)
  // A colon after `(` or a list item's dash; not after `[` (a slice), `?` (a choice) or a word (lambda, case).
  return before === '(' || before === '-'
}

function endsThere(line: string, end: number, language: Language): boolean {
  const at = skipSpace(line, end)
  return at >= line.length || ',;)]}'.includes(line[at]!) || startsComment(line, at, language)
}

function startsComment(line: string, at: number, language: Language): boolean {
  if (language === 'script') return line.startsWith('//', at) || line.startsWith('/*', at) || line.startsWith('--', at)
  if (language === 'data' && (line[at] === ';' || line.startsWith('//', at))) return true
  return line[at] === '#'
}

function bareWord(line: string, at: number): string | null {
  return /^\s*([A-Za-z_][\w./+-]*)\s*(?:#.*)?$/.exec(line.slice(at))?.[1] ?? null
}

function named(language: Language, extensions: string): Record<string, Language> {
  return Object.fromEntries(extensions.split(' ').map(extension => [extension, language]))
}
