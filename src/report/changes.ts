/**
 * Changed options as text: `optimizer.rate 0.0003 → 0.001`.
 */
import type { ChangedOption } from '../experiment/intervention.ts'
import type { Json } from '../experiment/json.ts'
import { digitsToTell, shortNumber } from '../experiment/short-number.ts'
import { singleLine } from './outside-text.ts'

/** A value of an option: numbers short, text without quotes where that is unmistakable, `unset` where there is none. */
export function valueText(value: Json | undefined, digits?: number): string {
  if (value === undefined) return 'unset'
  if (typeof value === 'number') return shortNumber(value, digits)
  if (typeof value === 'string' && /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(value)) return value
  return singleLine(JSON.stringify(value))
}

export function changeText({ option, from, to }: ChangedOption): string {
  const digits = digitsToTell(from, to)
  return `${singleLine(option)} ${valueText(from, digits)} → ${valueText(to, digits)}`
}
