/**
 * The words of a commit without its numbers: what was tried, and apart from it what the message says came of it.
 */
import { withoutOutcome } from '../text/outcome-words.ts'

export interface GitWords {
  /** Empty where the message says nothing else. */
  readonly sentence: string
  readonly note: string
}

/** A part of a text, by its first place and the one behind its last. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** `results`: where the text states the metric, in order; whatever the words around it, that is no part of what was tried. */
export function wordsOfMessage(text: string, results: readonly Span[]): GitWords {
  let rest = ''
  let from = 0
  for (const { start, end } of results) {
    rest += text.slice(from, start)
    from = end
  }
  rest += text.slice(from)
  const { tried, outcome } = withoutOutcome(withoutRemains(rest, results.length > 0))
  const stated = results.map(({ start, end }) => text.slice(start, end))
  return { sentence: tried, note: [...stated, outcome].filter(part => part !== '').join('; ') }
}

/** Brackets that are empty now, and signs with nothing behind them. */
function withoutRemains(text: string, wasCut: boolean): string {
  if (!wasCut) return text
  return text
    .replace(/[([][\s,;:–—-]*[)\]]/g, '')
    .replace(/[ \t]*(?:[,;:–—|]|->|=>|→|\s-)[ \t]*(?=\n|$)/g, '')
    .replace(/([([]|^|\n)[ \t]*[,;:.–—-]+[ \t]+/g, '$1')
    .replace(/[,;:][ \t]+(?=[([])/g, ' ')
    .replace(/[ \t]+(?=[,;.)\]]|\n|$)/g, '')
    .trim()
}
