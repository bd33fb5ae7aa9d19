/**
 * What a row of a log says was tried, apart from what it says came of it. The sentence of an intervention never says how
 * it went, or a forecast would read the answer.
 */
import { withoutOutcome } from '../text/outcome-words.ts'

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

/** A tag in words, without the capitals that people add when it went well (`draft6_BEST`); nothing for a mere number. */
function tagWords(tag: string): string {
  if (/^[a-z]*[-_ #]?\d+[a-z]?$/i.test(tag.trim())) return ''
  return tag.trim().replace(/(_[A-Z]{4,})+$/, '')
}

/** A name as words; nothing where a tracker made it up (`sunny-river-12`, `bold-colt-345`) or it is a number or an id. */
export function givenName(name: string): string {
  const text = name.trim()
  if (/^[a-z]+-[a-z]+-\d+$/.test(text) || /^[0-9a-f]{6,40}$/i.test(text) || /^[0-9a-f-]{36}$/i.test(text)) return ''
  return tagWords(text)
}
