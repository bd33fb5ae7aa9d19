/**
 * The last line of a log that matches a user's pattern. A pattern can take longer than the universe on the wrong line, so the search
 * runs where it can be interrupted.
 */
import { runInNewContext } from 'node:vm'
import { linesFromEnd } from './log-lines.ts'

export type Match =
  | { readonly kind: 'match'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unusable'; readonly why: string }

/** For a whole log. */
const longestMilliseconds = 5_000

/**
 * The first group of the pattern in its last match. A match lies within one line; `^` and `$` are that line's ends. Interrupting a
 * regular expression is something that only the `vm` module does; the code it runs is the constant below, and lines and pattern are its data.
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
  const until = performance.now() + longestMilliseconds
  for (const lines of linesFromEnd(log)) {
    const timeout = Math.ceil(until - performance.now())
    try {
      if (timeout <= 0) throw new Error('out of time')
      const text: unknown = runInNewContext(search, { lines, expression }, { timeout })
      if (typeof text === 'string') return { kind: 'match', text }
    } catch {
      return { kind: 'unusable', why: `the pattern ${pattern} takes too long on the output; make it simpler` }
    }
  }
  return { kind: 'none' }
}

const search = `
let found
for (let at = lines.length - 1; at >= 0 && found === undefined; at--) {
  for (const match of lines[at].matchAll(expression)) found = match[1] ?? ''
}
found
`
