/** The keys under which a ledger knows the rows of imports: of one family, whatever the source is called. */
import { contentHash } from '../experiment/json.ts'
import type { ImportedRow } from './history.ts'

export type RowAs = 'row' | 'reference' | 'unusable'

/** 128 bits of a hash tell any number of rows apart, and take a quarter of the room of what they stand for. */
export function keyOf(familyId: string, key: string, as: RowAs, isLong: boolean): string {
  const whole = `${familyId} ${as} ${key}`
  return isLong ? whole : contentHash(whole).slice(0, 32)
}

/** The keys under which a ledger would know these rows in the family. */
export function keysOf(familyId: string, rows: readonly ImportedRow[], isLong = false): ReadonlySet<string> {
  return new Set(
    rows.flatMap(({ key }) => [keyOf(familyId, key, 'row', isLong), keyOf(familyId, key, 'reference', isLong)]),
  )
}
