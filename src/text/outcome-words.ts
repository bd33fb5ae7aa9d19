/**
 * Tells what a note says was tried from what it says came of it. A forecast that reads "softcap 15 (worse)" reads the
 * answer, so the second part must not reach it. Patterns, not understanding: terse notes come apart cleanly, long prose
 * may keep a hint, and a reason ("warm-up helps early training") may be taken for a result.
 */
import { measuredNumber } from './measured-number.ts'
import { firstOutcomePhrases, outcomePhrases } from './outcome-phrases.ts'

/** The phrases about a result, as written; empty where there are none. */
export function outcomeWords(text: string): string[] {
  const note = compact(text)
  return outcomePhrases
    .flatMap(phrase => [...note.matchAll(phrase)])
    .sort((a, b) => a.index - b.index)
    .map(match => match[0].trim())
}

export interface SplitText {
  /** What was tried; empty where the text speaks of results only. */
  readonly tried: string
  /** What is said about the result; empty where the text says nothing of it, and then `tried` is the text itself. */
  readonly outcome: string
}

/**
 * Notes go "what was tried: how it went". So what was tried is the first stretch of clauses without an outcome phrase, with
 * the words of the next clause that come before its phrase; all that follows explains the result. A bracket that speaks of
 * the result goes, and the text goes on behind it. `values` are what was measured: one of them in the text is a result too.
 */
export function withoutOutcome(text: string, values: readonly number[] = []): SplitText {
  const note = compact(text)
  // A kind of phrase that the whole has not is in none of its clauses, which need not be asked.
  const kinds = firstOutcomePhrases.filter(phrase => phrase.test(note))
  if (firstPhrase(note, values, kinds) === null) return { tried: text.trim(), outcome: '' }
  let tried = ''
  const outcome: string[] = []
  let finished = false
  for (const { clause, separator, bracketed } of clausesOf(note)) {
    const phrase = firstPhrase(clause, values, kinds)
    if (bracketed) {
      if (finished || phrase !== null || tried === '') outcome.push(clause)
      else tried += clause
      continue
    }
    if (finished || (tried !== '' && onlyNumbers.test(clause))) {
      outcome.push(clause)
      finished = true
      continue
    }
    if (phrase === null) {
      tried += clause + separator
      continue
    }
    const before = withoutDangling(clause.slice(0, phrase.start))
    const behind = clause.slice(phrase.end)
    const cause = /^\s*(?:from|by|with|when|using|via)\s+(.*)$/su.exec(behind)
    if (hasContent.test(before)) {
      tried += before
      outcome.push(clause.slice(before.length))
      finished = true
    } else if (tried.trim() === '' && cause !== null && firstPhrase(cause[1]!, values, kinds) === null) {
      tried += cause[1]! + separator
      outcome.push(clause.slice(0, clause.length - cause[1]!.length))
    } else {
      outcome.push(clause)
      finished = tried.trim() !== ''
    }
  }
  return {
    tried: tidy(tried),
    outcome: outcome
      .map(part => part.trim())
      .filter(Boolean)
      .join('; '),
  }
}

function firstPhrase(
  text: string,
  values: readonly number[],
  kinds: readonly RegExp[],
): { start: number; end: number } | null {
  let found = measuredNumber(text, values)
  for (const phrase of kinds) {
    const match = phrase.exec(text)
    if (match !== null && (found === null || match.index <= found.start)) {
      found = { start: match.index, end: match.index + match[0].length }
    }
  }
  return found
}

const onlyNumbers = /^[\s~≈=<>+−-]*\d[\d.,\s%xk×/]*$/u
const hasContent = /\p{L}{2}|\d/u
/** Copulas, adverbs and conjunctions that led up to the result. */
const dangling =
  /(?:[\s,]|\b(?:is|was|are|were|be|gives?|gave|made|makes|got|gets|shows?|a|an|the|and|but|so|also|still|even|just|only|very|much|slightly|clearly|significantly|marginally|with|has|had|by|of|to|at|it|this|that|which|as|because|since|seems?|looks?|due)|[-–—=~:≈+])$/iu

/** Takes them off one by one, looking at the end only: one pattern over the whole would cost the square of a long run. */
function withoutDangling(text: string): string {
  const longest = 16
  let end = text.length
  for (;;) {
    const match = dangling.exec(text.slice(Math.max(0, end - longest), end))
    if (match === null) return text.slice(0, end)
    end -= match[0].length
  }
}

/** One space or line break for each run of white space, which would cost many a pattern the square of its length. */
function compact(text: string): string {
  return text.trim().replace(/\s+/gu, run => (run.includes('\n') ? '\n' : ' '))
}

interface Clause {
  readonly clause: string
  /** The mark that ended it, with its space; empty at brackets and at the end. */
  readonly separator: string
  readonly bracketed: boolean
}

const clauseEnd = /(?<!\b(?:vs|e\.g|i\.e|etc|cf|approx))[.!?]+(?=\s|$)\s*|[;|\n]\s*|,\s+|:\s+|\s+(?:[-–—]+|→|=>)\s+/gu

/** Brackets, from the first that opens to the one that closes it, are clauses of their own. */
function clausesOf(text: string): Clause[] {
  const clauses: Clause[] = []
  const bracket = /\s?[([]/gu
  let position = 0
  while (position < text.length) {
    bracket.lastIndex = position
    const opening = bracket.exec(text)
    const start = opening?.index ?? text.length
    plainClauses(text.slice(position, start), clauses)
    if (opening === null) break
    const end = closing(text, start + opening[0].length)
    clauses.push({ clause: text.slice(start, end), separator: '', bracketed: true })
    position = end
  }
  return clauses
}

function plainClauses(text: string, clauses: Clause[]): void {
  let start = 0
  for (const match of text.matchAll(clauseEnd)) {
    clauses.push({ clause: text.slice(start, match.index), separator: match[0], bracketed: false })
    start = match.index + match[0].length
  }
  if (start < text.length) clauses.push({ clause: text.slice(start), separator: '', bracketed: false })
}

function closing(text: string, inside: number): number {
  let depth = 1
  for (let i = inside; i < text.length; i++) {
    if (text[i] === '(' || text[i] === '[') depth++
    else if (text[i] === ')' || text[i] === ']') depth--
    if (depth === 0) return i + 1
  }
  return text.length
}

function tidy(text: string): string {
  let end = text.length
  while (end > 0 && ' \n,;:|.!–—→>=-'.includes(text[end - 1]!)) end--
  return text.slice(0, end).trimStart()
}
