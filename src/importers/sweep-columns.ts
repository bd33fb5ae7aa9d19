/**
 * What the columns of a sweep are: a table in which no text says what was tried, so that what was set tells its rows apart. A guess by
 * names, by place (what was set stands before what came of it) and by what stands in the columns.
 */
import { isPersonalName } from '../files/personal-data.ts'
import { isCounter, isSetting, isSettingSize, neither, normal, noteWords } from './column-names.ts'
import { directionOfName } from './direction.ts'
import { isMissing, isNotFinite, numberIn } from './value.ts'

export interface SweepColumn {
  readonly index: number
  readonly name: string
  /** In all rows. */
  readonly cells: readonly string[]
}

export type SweepRole = 'option' | 'metric' | 'note' | { readonly leftOut: string }

/** `objective` is where the first result stands; null where no column is named like one. */
export function sweepRole({ index, name, cells }: SweepColumn, objective: number | null): SweepRole {
  const word = normal(name)
  const filled = cells.filter(cell => !isMissing(cell))
  const distinct = new Set(filled)
  const repeats = distinct.size <= 0.5 * filled.length
  if (noteWords.has(word)) return 'note'
  if (filled.length === 0) return directionOfName(name) === null ? { leftOut: 'empty' } : 'metric'
  if (isPersonalName(name) || isPersonalName(word)) return { leftOut: 'says who or where' }
  if (2 * filled.filter(cell => numberIn(cell) !== null || isNotFinite(cell)).length < filled.length) {
    if (neither.has(word)) return { leftOut: 'names the rows' }
    return filled.length >= fewestNames && distinct.size === filled.length && filled.every(looksLikeName)
      ? { leftOut: 'a name or a time, another in each row' }
      : 'option'
  }
  if (isCounter(name)) return repeats || distinct.size === 1 ? 'option' : { leftOut: 'counts the rows' }
  if (neither.has(word)) return { leftOut: 'numbers the rows' }
  if (isSetting(name) || (isSettingSize(name) && repeats)) return 'option'
  if (directionOfName(name) !== null) return 'metric'
  // Digits that nobody sets, the same ones again and again: computed of what was set.
  const isFine = filled.some(cell => /\.\d{8,}/.test(cell))
  if (repeats) return isFine ? 'metric' : 'option'
  return objective !== null && index < objective ? 'option' : 'metric'
}

/** Fewer rows than these may differ in all words that were tried. */
const fewestNames = 4

/** A path, an address, a date, or one word with digits in it: `exp-012`, `3f2a9c`. */
function looksLikeName(cell: string): boolean {
  return /^\S*[\d/\\]\S*$/.test(cell) || /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(cell)
}
