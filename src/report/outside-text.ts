/**
 * Text that came from outside (sentences, option names, reasons, diffs) made safe to show in a terminal or on a page:
 * no control sequence acts, no bidirectional override reorders what stands beside it, and length is bounded.
 * Escaping for HTML is not done here but where markup is made.
 */

/** C0, DEL, C1 (all but tab and line feed), bidirectional embeddings, overrides and isolates, line and paragraph
 * separators, the byte order mark. Bidirectional marks (U+200E, U+200F) reorder nothing far from them and stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Acting characters become visible (`[U+202E]`), lone surrogates the replacement character. Line feeds and tabs stay. */
export function visibleText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(acting, character => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`)
}

/** The same on one line: white space runs become one space. */
export function singleLine(text: string): string {
  return visibleText(text).replace(/\s+/g, ' ').trim()
}

/** At most `limit` characters (never half a surrogate pair), saying how many were left out. */
export function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text
  const kept = text.slice(0, limit).replace(/[\ud800-\udbff]$/, '')
  return `${kept}… (${text.length - kept.length} more characters)`
}

/** As JSON.stringify writes half of a surrogate pair; many readers of JSON refuse it. */
const loneSurrogate = /(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/** The same JSON, in which no character acts, as JSON itself lets those from U+007F on, and none is half of one. */
export function inertJson(json: string): string {
  return json
    .replace(loneSurrogate, '\ufffd')
    .replace(acting, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
