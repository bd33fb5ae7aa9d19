/**
 * Single cells of a results table: is there a number, is it missing, is it a commit, when was it.
 */
const missing = new Set([
  '',
  '-',
  '--',
  '—',
  '–',
  '?',
  'n/a',
  'na',
  'n.a.',
  'none',
  'null',
  'nil',
  'tbd',
  'unknown',
  'undefined',
  'x',
])

export function isMissing(cell: string): boolean {
  return missing.has(cell.trim().toLowerCase())
}

/** The number a cell holds, with thousands separators, a unit or a percent sign behind it left off; null where there is none. */
export function numberIn(cell: string): number | null {
  const match =
    /^~?\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(?:%|[kmg]i?b|[num]?s|µs|sec|bpb|x|tok\/s|it\/s)?$/i.exec(
      cell.trim(),
    )
  if (!match || !/\d/.test(match[1]!)) return null
  const value = Number(match[1]!.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}

/** Whether a cell writes that the number was not finite. */
export function isNotFinite(cell: string): boolean {
  return /^[+-]?(nan|inf|infinity)$/i.test(cell.trim())
}

/** The commit a cell names, as written; null for the words people put where there is none. */
export function commitIn(cell: string): string | null {
  const text = cell.trim()
  if (isMissing(text) || /^(no[-_ ]?commit|uncommitted|pending|dirty|working[-_ ]?tree|local|wip|head)$/i.test(text))
    return null
  return text
}

/** Whether a commit as written can be the name of a git object: 4 to 40 hexadecimal digits. */
export function looksLikeHash(commit: string): boolean {
  return /^[0-9a-f]{4,40}$/i.test(commit)
}

/** A moment with a time of day and a zone, in ISO 8601 UTC; null for anything vaguer, since a guessed zone is a wrong hour. */
export function momentIn(cell: string): string | null {
  const text = cell.trim()
  if (/^\d{12,13}$/.test(text)) return new Date(Number(text)).toISOString()
  if (/^1\d{9}(\.\d+)?$/.test(text)) return new Date(Math.round(Number(text) * 1000)).toISOString()
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)$/.test(text)) return null
  const moment = new Date(text.replace(' ', 'T'))
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}
