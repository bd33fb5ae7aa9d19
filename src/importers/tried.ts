/**
 * What a row of a log says was tried, apart from what it says came of it. The sentence of an intervention never says how
 * it went, or a forecast would read the answer.
 */
import { outcomeWords, withoutOutcome } from '../text/outcome-words.ts'

export interface RowText {
  readonly tag: string | null
  readonly proposal: string | null
  readonly description: string | null
  readonly configuration: string | null
  /** Cells that a shifted row has more than the header. */
  readonly extra: readonly string[]
  /** What was measured: a text that has the number in it says how it went. */
  readonly values?: readonly number[]
}

/**
 * The sentence and the note. Where the log keeps a column for the proposal, the description beside it was written after the
 * run and is a note as a whole. An empty sentence means that nothing says what was tried.
 */
export function triedIn(text: RowText): { sentence: string; note: string | null } {
  const proposal = text.proposal === null ? null : withoutOutcome(text.proposal, text.values)
  const description = text.description === null ? null : withoutOutcome(text.description, text.values)
  const parts: string[] = []
  const notes: string[] = []
  if (text.tag !== null) parts.push(tagWords(text.tag))
  if (proposal) {
    parts.push(proposal.tried)
    notes.push(proposal.outcome)
  }
  if (description) {
    if (proposal?.tried) notes.push(text.description!.trim())
    else {
      parts.push(description.tried)
      notes.push(description.outcome)
    }
  }
  const settings = [text.configuration ?? '', ...text.extra]
    .map(setting => setting.trim())
    .filter(setting => setting !== '')
  const sentence = parts.filter(part => part !== '').join(': ')
  return {
    sentence: settings.length === 0 ? sentence : `${sentence} [${settings.join('; ')}]`.trim(),
    note: notes.filter(note => note !== '').join('; ') || null,
  }
}

/** Nobody writes an idea that long, and the patterns that go through it take their time. */
const longestText = 20_000

/** The text, cut where it is longer than any idea. */
export function boundedText(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`
}

/** How it went, as people hang it onto a name afterwards: `draft6_BEST`, `lr-0.1-worse`, `wide (failed)`. */
const afterthought =
  /[\s_.-]*[([]?(?<![\p{L}\p{N}])(?:(?:much|way|slightly|clearly|far)[_ -])?(?:new[_ -]?best|best|worst|better|worse|improved|keep|kept|keeper|winner|champion|sota|fail(?:ed|ure)?|crash(?:ed)?|oom|nan|diverged?|exploded|discard(?:ed)?|revert(?:ed)?|reject(?:ed)?|success(?:ful)?|accepted|broken|no[_ -]?gain|timeout)[)\]]?$/iu

/** A tag in words, without what says how it went; nothing for a mere number. */
function tagWords(written: string): string {
  const tag = written.trim().slice(0, 1000)
  if (/^[a-z]*[-_ #]?\d+[a-z]?$/i.test(tag)) return ''
  return withoutAfterthoughts(tag.replace(/(_[A-Z]{4,})+$/, ''))
}

function withoutAfterthoughts(name: string): string {
  for (let text = name; ; ) {
    // Underscores are letters to a pattern, and separators to people.
    const match = afterthought.exec(text.replaceAll('_', ' '))
    if (match === null) return text
    text = text.slice(0, match.index)
  }
}

/** Tags that say what kind of change it is, without those that say how it went. */
export function triedTags(tags: readonly string[]): readonly string[] {
  const kept = tags.flatMap(tag => withoutAfterthoughts(tag.trim()) || [])
  return kept.filter(tag => outcomeWords(tag.replaceAll('_', ' ')).length === 0)
}

/** A name as words; nothing where a tracker made it up (`sunny-river-12`, `bold-colt-345`) or it is a number or an id. */
export function givenName(name: string): string {
  const text = name.trim().slice(0, 1000)
  if (/^[a-z]+-[a-z]+-\d+$/.test(text) || /^[0-9a-f]{6,40}$/i.test(text) || /^[0-9a-f-]{36}$/i.test(text)) return ''
  return tagWords(text)
}
