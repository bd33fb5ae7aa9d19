/**
 * Changed options as text: `optimizer.rate 0.0003 → 0.001`.
 */
import type { ChangedOption } from '../experiment/intervention.ts'
import type { Json } from '../experiment/json.ts'
import { singleLine } from './outside-text.ts'

/** A value of an option: numbers short, text without quotes where that is unmistakable, `unset` where there is none. */
export function valueText(value: Json | undefined): string {
  if (value === undefined) return 'unset'
  // An option's value is what was written, not a measurement: only an unreadable number is shortened.
  if (typeof value === 'number')
    return String(value).length <= 10 ? String(value) : String(Number(value.toPrecision(7)))
  if (typeof value === 'string' && /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(value)) return value
  return singleLine(JSON.stringify(value))
}

export function changeText({ option, from, to }: ChangedOption): string {
  return `${singleLine(option)} ${valueText(from)} → ${valueText(to)}`
}
