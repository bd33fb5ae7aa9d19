/**
 * Literals as they stand in source code: numbers and arithmetic on numbers, booleans, null, quoted strings, and flat lists
 * of these, in the common part of Python, JavaScript, TOML, YAML and JSON. Read, never evaluated as code; anything
 * with a name or a call in it is not a literal.
 */
import type { Json } from './json.ts'

export interface Reading<Value> {
  readonly value: Value
  /** Index just after it. */
  readonly end: number
}

const words: Readonly<Record<string, boolean | null>> = {
  True: true,
  true: true,
  False: false,
  false: false,
  None: null,
  null: null,
}

/** Digits with separators and exponent; hexadecimal. Sticky, so that it starts exactly where it is asked to. */
const number = /0[xX][\da-fA-F_]+|(?:\d[\d_]*\.?(?:\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?/y
const word = /[A-Za-z]+(?![\w.(])/y
const space = /\s*/y
/** A prefix such as r or b leaves a literal; f makes an expression and does not match. */
const string = /[rRbB]?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\$]|\\.)*`)/y

/**
 * The literal that starts at `start` of `text`, white space before it skipped; null where there is none. `slashes`:
 * `//` divides (Python).
 */
export function readLiteral(text: string, start: number, slashes: boolean): Reading<Json> | null {
  const at = skipSpace(text, start)
  return readScalar(text, at, slashes) ?? (text[at] === '[' || text[at] === '(' ? readList(text, at, slashes) : null)
}

function readScalar(text: string, at: number, slashes: boolean): Reading<Json> | null {
  const quoted = match(string, text, at)
  if (quoted) return { value: unquoted(quoted[1]!), end: at + quoted[0].length }
  const named = match(word, text, at)
  if (named && named[0] in words) return { value: words[named[0]]!, end: at + named[0].length }
  const sum = readOperators(text, at, 0, slashes)
  return sum && Number.isFinite(sum.value) ? sum : null
}

function readList(text: string, at: number, slashes: boolean): Reading<Json> | null {
  const close = text[at] === '[' ? ']' : ')'
  const items: Json[] = []
  let next = skipSpace(text, at + 1)
  while (text[next] !== close) {
    const item = readScalar(text, next, slashes)
    if (!item) return null
    items.push(item.value)
    next = skipSpace(text, item.end)
    if (text[next] === ',') next = skipSpace(text, next + 1)
    else if (text[next] !== close) return null
  }
  return { value: items, end: next + 1 }
}

/** Binary operators by how tightly they bind; `**` binds to the right and before a sign on its left. */
const operators: readonly (readonly [symbol: string, strength: number, apply: (a: number, b: number) => number])[] = [
  ['**', 4, (a, b) => a ** b],
  ['<<', 1, (a, b) => a * 2 ** b],
  ['//', 3, (a, b) => Math.floor(a / b)],
  ['*', 3, (a, b) => a * b],
  ['/', 3, (a, b) => a / b],
  ['+', 2, (a, b) => a + b],
  ['-', 2, (a, b) => a - b],
]

/** Precedence climbing over operators at least as strong as `weakest`. */
function readOperators(text: string, start: number, weakest: number, slashes: boolean): Reading<number> | null {
  let left = readOperand(text, start, slashes)
  while (left) {
    const at = skipSpace(text, left.end)
    const operator = operators.find(([symbol]) => text.startsWith(symbol, at))
    if (!operator || operator[1] < weakest || (operator[0] === '//' && !slashes)) return left
    const [symbol, strength, apply] = operator
    const right = readOperators(text, at + symbol.length, symbol === '**' ? strength : strength + 1, slashes)
    // `3 * x` is no literal, so the terminator check of the caller must see the operator.
    if (!right) return left
    left = { value: apply(left.value, right.value), end: right.end }
  }
  return null
}

function readOperand(text: string, start: number, slashes: boolean): Reading<number> | null {
  const at = skipSpace(text, start)
  if (text[at] === '-' || text[at] === '+') {
    const operand = readOperators(text, at + 1, 4, slashes)
    return operand && { value: text[at] === '-' ? -operand.value : operand.value, end: operand.end }
  }
  if (text[at] === '(') {
    const inner = readOperators(text, at + 1, 0, slashes)
    const close = inner ? skipSpace(text, inner.end) : -1
    return inner && text[close] === ')' ? { value: inner.value, end: close + 1 } : null
  }
  const digits = match(number, text, at)
  const end = digits ? at + digits[0].length : at
  // `3px` or `2x` is a name or a unit, not a number.
  if (!digits || /[\w.]/.test(text[end] ?? '')) return null
  return { value: Number(digits[0].replaceAll('_', '')), end }
}

function unquoted(quoted: string): string {
  const inner = quoted.slice(1, -1)
  return inner.replace(/\\(.)/g, (_, escaped: string) => ({ n: '\n', t: '\t', r: '\r' })[escaped] ?? escaped)
}

export function skipSpace(text: string, at: number): number {
  return at + match(space, text, at)![0].length
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
