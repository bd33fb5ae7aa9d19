/**
 * The words of a commit without its numbers: what was tried, and apart from it what the message says came of it.
 */
import { withoutOutcome } from '../text/outcome-words.ts'
import { statementsIn } from './git-message.ts'

export interface GitWords {
  /** Empty where the message says nothing else. */
  readonly sentence: string
  readonly note: string
}

/** `isMetric`: whether a name is the metric's; what is said of it is a result, whatever the words around it. */
export function wordsOfMessage(text: string, metric: string, isMetric: (name: string) => boolean): GitWords {
  let rest = ''
  let from = 0
  const stated: string[] = []
  for (const { name, start, end } of statementsIn(text, metric)) {
    if (!isMetric(name)) continue
    rest += text.slice(from, start)
    stated.push(text.slice(start, end))
    from = end
  }
  rest += text.slice(from)
  const { tried, outcome } = withoutOutcome(withoutRemains(rest, stated.length > 0))
  return { sentence: tried, note: [...stated, outcome].filter(part => part !== '').join('; ') }
}

/** Brackets that are empty now, and signs with nothing behind them. */
function withoutRemains(text: string, wasCut: boolean): string {
  if (!wasCut) return text
  return text
    .replace(/[([][\s,;:–—-]*[)\]]/g, '')
    .replace(/[ \t]*(?:[,;:–—|]|->|=>|→|\s-)[ \t]*(?=\n|$)/g, '')
    .replace(/(^|\n)[ \t]*[,;:.–—-]+[ \t]*/g, '$1')
    .replace(/[ \t]+(?=[,;.)\]]|\n|$)/g, '')
    .trim()
}
