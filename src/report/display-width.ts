/**
 * How many columns a text takes in a terminal, and cutting it to fit: wide East Asian characters and emoji take two,
 * combining marks none. Follows Unicode's East Asian Width (UAX #11) for the blocks in use; ambiguous ones count as one.
 */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Ranges of code points that are wide or fullwidth in UAX #11, rarely used planes as whole blocks. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18aff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
]

const invisible = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Control}]+$/u
const emoji = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u

function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0)!
  if (code >= 0x20 && code < 0x7f && grapheme.length === 1) return 1
  if (invisible.test(grapheme)) return 0
  if (emoji.test(grapheme)) return 2
  return wideRanges.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}

/** Columns that the text takes; it must not hold colour sequences or line breaks. */
export function displayWidth(text: string): number {
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

/** The text if it fits, otherwise its beginning and `…`, in at most `columns` columns. */
export function truncate(text: string, columns: number): string {
  if (columns <= 0) return ''
  // A grapheme is never wider than two columns, but may be many characters: segment no more than can matter.
  let width = 0
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    const next = width + graphemeWidth(segment)
    if (next > columns) return `${keepWithin(kept, columns - 1)}…`
    kept += segment
    width = next
  }
  return kept
}

function keepWithin(text: string, columns: number): string {
  let width = 0
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment)
    if (width > columns) break
    kept += segment
  }
  return kept.trimEnd()
}

/** Filled with spaces to `columns` at the right, or at the left for what is aligned right. */
export function pad(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, columns - displayWidth(text)))
  return align === 'left' ? text + space : space + text
}
