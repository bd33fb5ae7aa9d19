/**
 * The last line of a log that matches a user's pattern. A pattern can take longer than the universe on the wrong line,
 * so the search runs where it can be interrupted.
 */
import { runInNewContext } from 'node:vm'
import { linesFromEnd } from './log-lines.ts'

export type Match =
  | { readonly kind: 'match'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unusable'; readonly why: string }

/** For one batch of lines, a megabyte, which takes a plain pattern about ten milliseconds. */
const longestMilliseconds = 2_000

/**
 * The first group of the pattern in its last match. A match lies within one line; `^` and `$` are that line's ends.
 * Interrupting a regular expression is something that only the `vm` module does; the code it runs is the constant
 * below, and lines and pattern are its data.
 */
export function lastMatch(log: string, pattern: string): Match {
  let expression: RegExp
  try {
    expression = new RegExp(pattern, 'gm')
  } catch (error) {
    return { kind: 'unusable', why: `the pattern ${pattern} is not a regular expression: ${(error as Error).message}` }
  }
  if (new RegExp(`${pattern}|`).exec('')!.length < 2) {
    return { kind: 'unusable', why: `the pattern ${pattern} has no group in parentheses for the number` }
  }
  for (const lines of linesFromEnd(log)) {
    let text: unknown
    try {
      text = runInNewContext(search, { lines, expression }, { timeout: longestMilliseconds })
    } catch {
      return { kind: 'unusable', why: `the pattern ${pattern} takes too long on the output; make it simpler` }
    }
    if (typeof text === 'string') return { kind: 'match', text }
  }
  return { kind: 'none' }
}

/** `search` is much faster than `matchAll` on the many lines that do not match. */
const search = `(() => {
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at]
    if (line.search(expression) >= 0) return [...line.matchAll(expression)].at(-1)[1] ?? ''
  }
})()`
