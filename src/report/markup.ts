/**
 * HTML by a tagged template that escapes. Whatever is put into the template is text, made visible and escaped, unless it
 * is markup that this module made. Rules it relies on: attributes are always quoted, and no text from outside is ever put
 * into an address, a style or a script.
 */
import { visibleText } from './outside-text.ts'

/** Text that is markup already: made by `html`, or vouched for with `markup`. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Insertion = string | number | Markup | null | false | readonly Insertion[]

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeText(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, character => references[character]!)
}

export function html(strings: TemplateStringsArray, ...insertions: readonly Insertion[]): Markup {
  return new Markup(strings.reduce((text, part, index) => text + part + insertionText(insertions[index] ?? null), ''))
}

function insertionText(insertion: Insertion): string {
  if (insertion === null || insertion === false) return ''
  if (insertion instanceof Markup) return insertion.text
  if (typeof insertion === 'number') {
    if (!Number.isFinite(insertion)) throw new Error(`html: ${insertion} is no number to show; format it first`)
    return String(insertion)
  }
  if (typeof insertion === 'string') return escapeText(insertion)
  return insertion.map(insertionText).join('')
}

/** Vouches for text that is markup: the drawings of `plots.ts` and our own style sheet, nothing else. */
export function markup(text: string): Markup {
  return new Markup(text)
}
