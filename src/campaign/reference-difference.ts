/** What has changed from one reference to another, in a few words: why an idea that failed then may deserve another try. */
import { diffConfigurations } from '../experiment/configuration.ts'
import type { Reference } from '../experiment/environment.ts'
import type { ChangedOption } from '../experiment/intervention.ts'
import { canonicalJson, type Json } from '../experiment/json.ts'
import { digitsToTell, shortNumber } from '../experiment/short-number.ts'

/** More options than this are only counted. */
const mostNamed = 3

/** Null where the two are the same to a run. */
export function referenceDifference(then: Reference, now: Reference): string | null {
  const options = diffConfigurations(then.configuration, now.configuration)
  const named = options.slice(0, mostNamed).map(optionText)
  if (options.length > mostNamed) named.push(`${options.length - mostNamed} more options`)
  const parts = [...named, ...codeText(then, now)]
  return parts.length === 0 ? null : `since then ${parts.join(', ')}`
}

function optionText({ option, from, to }: ChangedOption): string {
  const digits = digitsToTell(from, to)
  return `${option} ${valueText(from, digits)} → ${valueText(to, digits)}`
}

function valueText(value: Json | undefined, digits: number): string {
  if (value === undefined) return 'unset'
  if (typeof value === 'number') return shortNumber(value, digits)
  const text = canonicalJson(value)
  return text.length > 24 ? `${text.slice(0, 23)}…` : text
}

function codeText(then: Reference, now: Reference): string[] {
  if (then.tree !== now.tree) {
    const [before, after] = [then, now].map(({ commit, label }) => commit?.slice(0, 7) ?? label ?? 'none')
    return [`the code (${before} → ${after})`]
  }
  if (then.code !== now.code) return ['the code']
  return then.label !== now.label ? [`the reference (${then.label ?? 'none'} → ${now.label ?? 'none'})`] : []
}
