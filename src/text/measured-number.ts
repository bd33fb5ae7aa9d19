/**
 * Finds a measured value in a text: written out, or rounded. A short number says nothing (`0.5` is as well an option), so it takes
 * three significant digits with a fraction, or four without.
 */
const numbers = /(?<![\p{L}\p{N}_.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\p{N}_]|\.\d|e[-+]?\d)/giu

/** Where the first of the values stands in the text; null where none does. */
export function measuredNumber(text: string, values: readonly number[]): { start: number; end: number } | null {
  if (values.length === 0) return null
  for (const match of text.matchAll(numbers)) {
    const written = match[0].replaceAll(',', '').replace('−', '-')
    const decimals = /\.(\d+)$/.exec(written)?.[1]?.length ?? 0
    const digits = written.replace(/^[-+]?[0.]*/, '').replace('.', '').length
    if (digits < (decimals > 0 ? 3 : 4)) continue
    const half = 0.5 * 10 ** -decimals
    const number = Number(written)
    if (values.some(value => Math.abs(value - number) <= half * (1 + 1e-9) && (decimals > 0 || value === number))) {
      return { start: match.index, end: match.index + match[0].length }
    }
  }
  return null
}
