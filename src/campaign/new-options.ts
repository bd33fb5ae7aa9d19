/**
 * Options that a change adds to the reference configuration. A change may do that, and a program may read them; but a name
 * spelled wrongly would be paid for without changing anything.
 */
import { diffConfigurations } from '../experiment/configuration.ts'
import { changedOptions } from '../experiment/diff-options.ts'
import type { Intervention } from '../experiment/intervention.ts'
import type { Json } from '../experiment/json.ts'

export interface NewOption {
  readonly option: string
  /** The option of the reference that was probably meant; null where none is like it. */
  readonly meant: string | null
  /** Whether it differs from that one by case and separators, or by one letter: then it is taken for a mistake. */
  readonly misspelt: boolean
}

/** Of the overrides; what a diff adds is code, and says itself what it means. */
export function newOptions(configuration: Json, { overrides }: Pick<Intervention, 'overrides'>): NewOption[] {
  if (configuration === null || overrides === null) return []
  const known = diffConfigurations(null, configuration).map(({ option }) => option)
  return changedOptions({ configuration }, { overrides, diff: null }).flatMap(({ option, from, to }) => {
    if (from !== undefined || to === undefined) return []
    const misspelt = known.find(other => isMisspelt(option, other))
    const elsewhere = known.find(other => leaf(other) === leaf(option))
    return [{ option, meant: misspelt ?? elsewhere ?? null, misspelt: misspelt !== undefined }]
  })
}

function leaf(option: string): string {
  return option.slice(option.lastIndexOf('.') + 1)
}

function isMisspelt(option: string, other: string): boolean {
  const plain = (name: string) => name.replace(/[_-]/g, '').toLowerCase()
  if (plain(option) === plain(other)) return true
  const [parts, others] = [option.split('.'), other.split('.')]
  if (parts.length !== others.length) return false
  const different = parts.flatMap((part, place) => (part === others[place] ? [] : [[part, others[place]!] as const]))
  return different.length === 1 && areOneLetterApart(...different[0]!)
}

/**
 * One letter changed, added or left out, or two neighbours swapped, inside a word of three letters or more and not at its
 * beginning: `d_head` and `n_head`, `beta1` and `beta2` are names of their own.
 */
function areOneLetterApart(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  let start = 0
  while (start < short.length && short[start] === long[start]) start++
  const beginning = /[a-z]*$/i.exec(long.slice(0, start))![0]
  const word = beginning + /^[a-z]*/i.exec(long.slice(start))![0]
  if (beginning === '' || word.length < 3) return false
  const [rest, longRest] = [short.slice(start), long.slice(start)]
  if (!/^[a-z]/i.test(longRest)) return false
  if (short.length < long.length) return rest === longRest.slice(1)
  const changed = rest.slice(1) === longRest.slice(1)
  return changed || (rest.slice(0, 2) === longRest[1]! + longRest[0]! && rest.slice(2) === longRest.slice(2))
}
