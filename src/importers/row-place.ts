/** A row's place in its log: whether it is a reference, was kept or only tried, and what it was tried on. */
import type { JsonObject } from '../experiment/json.ts'
import { shortNumber } from '../experiment/short-number.ts'
import type { ImportedRole } from './history.ts'
import type { ReadRow } from './results-row.ts'

/** A row that later rows were tried on. */
export interface Kept {
  readonly key: string
  readonly role: ImportedRole
  readonly name: string | null
  readonly options: JsonObject | null
}

interface RowPlace {
  readonly role: ImportedRole
  /** What was set otherwise than before; for a reference all that was set. */
  readonly settings: JsonObject | null
  readonly against: string | null
}

/** Given what was kept before it; `before` is undefined for the first row, null where nothing was kept yet. */
export function placeOf(read: ReadRow, before: Kept | null | undefined): RowPlace | { readonly reason: string } {
  const changed = changedSettings(read.options, before?.options ?? null)
  const nothing = changed !== null && Object.keys(changed).length === 0
  // Beside a text, settings that are the same say only that the change was another; a name in a sweep says nothing.
  const unchanged = nothing && (read.isOfSweep || read.sentence === '')
  const role = unchanged ? 'reference' : roleOf(read, before === undefined)
  if (role !== 'reference') return { role, settings: nothing ? null : changed, against: before?.key ?? null }
  // In a sweep it is one more run of what the others are changes of, and says how often that fails.
  if (before !== undefined && read.outcome.kind !== 'finished' && !read.isOfSweep) {
    return { reason: `a reference that did not finish measures nothing (${read.outcome.reason})` }
  }
  const again = unchanged || (before?.role === 'reference' && read.name !== null && before.name === read.name)
  return { role, settings: read.options, against: again ? before!.key : null }
}

function roleOf(read: ReadRow, isFirst: boolean): ImportedRole {
  if (read.role === 'reference') return 'reference'
  if (read.role === null) return isFirst || read.saysBaseline ? 'reference' : 'tried'
  if (read.role === 'kept') return isFirst || read.saysBaseline ? 'reference' : 'kept'
  // A sweep whose rows all say that they finished has no keeps: its first row is what the others are changes of.
  if (isFirst && read.options !== null && read.outcome.kind === 'finished') return 'reference'
  return isFirst && read.saysBaseline ? 'reference' : 'tried'
}

/** What was set otherwise than in the reference, as a merge patch; null where the table has no settings. */
function changedSettings(options: JsonObject | null, reference: JsonObject | null): JsonObject | null {
  if (options === null || reference === null) return null
  const changed = Object.entries(options).filter(([name, value]) => reference[name] !== value)
  const removed = Object.keys(reference).filter(name => !(name in options))
  return Object.fromEntries([...changed, ...removed.map(name => [name, null] as const)])
}

export function settingsText(settings: JsonObject): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${typeof value === 'number' ? shortNumber(value) : String(value)}`)
    .join(', ')
}
