/**
 * Numbers as a reader wants them: gains with a sign and no more digits than their noise allows, intervals, durations,
 * shares. Text only, no markup. A number that is not finite becomes a dash: it never reaches a page as NaN.
 */
import type { MeasuredGain, Quantiles } from '../experiment/record.ts'

/** What stands where there is nothing to say. */
export const dash = '–'

const minus = '\u2212'

/** Decimal places that show `scale` with two significant digits, between 0 and 12. */
export function decimalsFor(scale: number): number {
  const size = Math.abs(scale)
  if (!Number.isFinite(size) || size === 0) return 4
  // Rounding may carry into the next power of ten: 0.0996 is 0.10.
  const exponent = Math.floor(Math.log10(Number(size.toPrecision(2))))
  return Math.min(12, Math.max(0, 1 - exponent))
}

/** A number with its sign written (a true minus sign, the width of a plus); a rounded zero has none. */
export function signed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return dash
  const digits = Math.abs(value).toFixed(decimals)
  if (Number(digits) === 0) return digits
  return `${value < 0 ? minus : '+'}${digits}`
}

/** With so many decimals and a true minus sign, and none before zero: `−0.31`. */
export function plainDecimals(value: number, decimals = 2): string {
  return signed(value, decimals).replace('+', '')
}

/** A plain number with about four significant digits, without a forced sign: metric values, options. */
export function plainNumber(value: number): string {
  if (!Number.isFinite(value)) return dash
  const size = Math.abs(value)
  const digits =
    Number.isInteger(value) && size < 1e9
      ? String(size)
      : size !== 0 && (size < 1e-3 || size >= 1e9)
        ? size.toPrecision(3).replace(/\.?0+(?=e|$)/, '')
        : String(Number(size.toPrecision(size >= 1000 ? 6 : 4)))
  return value < 0 ? minus + digits : digits
}

/** `+0.0123 ± 0.0040`: the gain and one standard error; without a standard error, three significant digits of the gain. */
export function gainText(measured: Pick<MeasuredGain, 'gain' | 'standardError'> | null): string {
  if (measured === null || !Number.isFinite(measured.gain)) return dash
  const { gain, standardError } = measured
  if (standardError === null || !Number.isFinite(standardError)) return signed(gain, decimalsFor(gain / 10))
  const decimals = standardError === 0 ? decimalsFor(gain / 10) : decimalsFor(standardError)
  return `${signed(gain, decimals)} ± ${standardError.toFixed(decimals)}`
}

/** `[−0.004, +0.021]`, with two significant digits of its width unless told how many decimals. */
export function intervalText(low: number, high: number, places?: number): string {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return dash
  const decimals = places ?? decimalsFor(high > low ? high - low : low / 10)
  return `[${signed(low, decimals)}, ${signed(high, decimals)}]`
}

/** The width of the 80 % interval of a normal distribution, in standard deviations. */
const widthOf80 = 2.563

/**
 * `+0.012 [−0.004, +0.028]`: the median of a forecast and its 80 % interval, with the digits that a measured gain has whose standard error
 * is as wide: two significant ones.
 */
export function forecastText(quantiles: Quantiles): string {
  const [low, , median, , high] = quantiles
  if (![low, median, high].every(Number.isFinite)) return dash
  const decimals = decimalsFor(high > low ? (high - low) / widthOf80 : median / 10)
  return `${signed(median, decimals)} [${signed(low, decimals)}, ${signed(high, decimals)}]`
}

/** `85 %`; what is neither none nor all is never rounded to either. */
export function percentText(share: number): string {
  if (!Number.isFinite(share)) return dash
  const percent = Math.round(share * 100)
  if (percent <= 0 && share > 0) return '<1 %'
  if (percent >= 100 && share < 1) return '>99 %'
  return `${percent} %`
}

/** `40 ms`, `1.4 s`, `12 s`, `3 min 05 s`, `2 h 14 min`, `3 d 4 h`. */
export function durationText(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return dash
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
  const hours = Math.round(minutes / 60)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `1 run`, `2 runs`. */
export function countText(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`
}
