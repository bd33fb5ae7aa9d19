/**
 * What a commit's message says: what was done, which commit it takes back, how it ended, and the metrics it states. Names
 * and addresses of people at its end are not read.
 */
import type { OutcomeKind } from '../experiment/intervention.ts'
import { directionOfName } from './direction.ts'
import { parsePythonJson } from './python-json.ts'
import { meaningOf } from './status-words.ts'

export interface GitMessage {
  readonly subject: string
  /** The subject and what follows it, without `data`. */
  readonly text: string
  /** What stands at its end as JSON: agents write the result of a run there. Null where nothing does. */
  readonly data: unknown
  /** The commit that is taken back, by its hash, as written; by its subject where no hash is given. */
  readonly reverts: { readonly hash: string | null; readonly subject: string | null } | null
  /** Whether it begins by saying that something was thrown away (`discard: batch of 512`). */
  readonly discards: boolean
  /** The word in front that says that nothing was measured (`crash: batch of 512`); null where there is none. */
  readonly failure: { readonly word: string; readonly kind: OutcomeKind } | null
}

/** Longer messages are rare, and are release notes. */
const longestMessage = 4000

const people = /^(?:[A-Z][\w-]*-by|Cc|Change-Id|git-svn-id|Link|See-also)\s*:|^\W*Generated (?:with|by)\b/i

export function readMessage(message: string): GitMessage {
  const lines = message.slice(0, longestMessage).split('\n')
  const [first, ...others] = lines
  // What a merge is about stands below the names of its branches.
  const isTitled = /^Merge (?:pull request|branch|remote)/i.test(first!) && others.some(line => line.trim() !== '')
  const whole = (isTitled ? others : lines)
    .filter(line => !people.test(line.trim()))
    .join('\n')
    .trim()
  const { text, data } = withoutData(whole)
  const subject = text.split('\n')[0]!.trim()
  const hash = /\bthis reverts (?:commit )?([0-9a-f]{7,64})\b/i.exec(text)?.[1] ?? null
  const taken = /^revert\s+"(.*)"$/i.exec(subject)?.[1] ?? /^revert(?:\([^)]*\))?:\s*(.*)$/i.exec(subject)?.[1] ?? null
  const reverts = hash !== null || taken !== null ? { hash: hash?.toLowerCase() ?? null, subject: taken } : null
  const discards = /^\W*(?:discard|revert|reject|undo)(?:ed)?\b/i.test(subject)
  return { subject, text, data, reverts, discards, failure: failureIn(subject) }
}

/** `Result: {"status": "keep", "val_bpb": 0.99}`, or an object in lines of its own. */
function withoutData(text: string): { text: string; data: unknown } {
  const block = /(?:^|\n)(?:-{3,}\n)?(?:[A-Za-z][\w ]{0,20}:\s*)?(\{[\s\S]*\})$/.exec(text)
  if (block === null) return { text, data: null }
  try {
    return { text: text.slice(0, block.index).trim(), data: parsePythonJson(block[1]!) }
  } catch {
    return { text, data: null }
  }
}

function failureIn(subject: string): GitMessage['failure'] {
  const word = /^\s*(?:\[([\w -]{2,20})\]|([\w-]{2,20})\s*:)/.exec(subject)
  const first = word?.[1] ?? word?.[2]
  if (first === undefined || /^(error|exception|failure|killed)$/i.test(first)) return null
  const kind = meaningOf(first)?.kind
  return kind === 'crashed' || kind === 'diverged' || kind === 'timed-out' ? { word: first, kind } : null
}

/** A metric that a text states. */
export interface Statement {
  readonly name: string
  readonly value: number
  /** Where it stands in the text. */
  readonly start: number
  readonly end: number
}

// Lengths are bounded, or a text made for it would take a time that grows with their square.
const number = String.raw`[-+−]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,20})(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?|[-+−]?\.\d{1,20}`
const unit = String.raw`(?:\s?(?:ms|µs|s|sec|bpb|[kmg]i?b|x|tok\/s|tokens\/s|it\/s))?(?!\.?\w)`
const stated = new RegExp(
  String.raw`(?<![\w@/.-])(?<compared>(?:prev|previous|old|baseline|target|best|vs\.?|than|from)[ _])?` +
    String.raw`(?<name>(?:(?:val|valid|validation|test|train|eval|dev)[ ])?[A-Za-z_µ][\w@/.-]{0,60})` +
    String.raw`(?<between>\s*[:=≈~]\s*|\s+(?:is|was|of|at|to|now|=>|->|→)\s+|\s+(?:from\s+)?)` +
    String.raw`(?<value>${number})(?<share>\s?%)?${unit}` +
    String.raw`(?:\s*(?:→|->|=>|to)\s*(?<last>${number})(?:\s?%)?${unit})?`,
  'giu',
)

/**
 * The metrics in a text: names that say which way is better, and the one that was asked for, each with the number behind
 * it; of two numbers with an arrow between them the second. What a text compares with (`prev val_bpb=1.45`) is not one, nor
 * is a difference (`-0.3%`).
 */
export function statementsIn(text: string, asked?: string): Statement[] {
  return [...text.matchAll(stated)].flatMap(match => {
    const { compared, name: written, between, value: first, share, last } = match.groups!
    const isDifference = last === undefined && (first!.startsWith('+') || (share !== undefined && /^[-−]/.test(first!)))
    if (compared !== undefined || isDifference) return []
    const name = written!.replace(/[.-]+$/, '').replace(' ', '_')
    const digits = last ?? first!
    const value = Number(digits.replaceAll(',', '').replace('−', '-'))
    // In prose a name and a number stand side by side by chance: the number of a result has a sign between or a fraction.
    const looksMeasured = name.length > 2 && (/[:=≈~]/.test(between!) || /\.\d/.test(digits))
    const isMetric = name.toLowerCase() === asked?.toLowerCase() || (looksMeasured && directionOfName(name) !== null)
    return isMetric && Number.isFinite(value)
      ? [{ name, value, start: match.index, end: match.index + match[0].length }]
      : []
  })
}
