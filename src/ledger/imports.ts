/**
 * What became of each row of an imported source, by a key that the importer gives it: importing twice changes nothing,
 * and what could not be used is listed with the reason.
 */
import { now } from './environments.ts'
import { insertNew, rowsLike } from './many-rows.ts'
import type { Database, Tables } from './tables.ts'
import { inTransaction } from './transaction.ts'

/** A row that became an intervention (and usually a run), or one that could not be used. */
export type ImportedRow =
  | {
      readonly versionId: string
      readonly interventionId: number
      readonly runId: number | null
      /** Where it stood in its source when it was imported: `line 12`, `run 3f2a`. */
      readonly place: string | null
      /** What the source says of the result. */
      readonly text: string | null
      /** A hash of what was made of the row; absent where nobody compares it. */
      readonly meaning?: string | null
    }
  | {
      readonly reason: string
      readonly place: string | null
      /** The row as written, shortened. */
      readonly text: string | null
    }

export type KnownRow = ImportedRow & {
  /** The reading that brought it; null of what was imported without one. */
  readonly readingId: number | null
}

/** Notes what the rows became, and the reading that brought them. Of one whose key is known nothing changes. */
export async function recordImports(
  db: Database,
  rows: readonly (readonly [sourceKey: string, row: ImportedRow])[],
  readingId: number | null = null,
): Promise<void> {
  await inTransaction(db, async db => {
    const importedAt = now()
    const columns = rows.map(([sourceKey, row]) => {
      const used = 'reason' in row ? null : row
      return {
        source_key: sourceKey,
        version_id: used?.versionId ?? null,
        intervention_id: used?.interventionId ?? null,
        run_id: used?.runId ?? null,
        ...placeColumns(row.place),
        text: row.text,
        reason: 'reason' in row ? row.reason : null,
        imported_at: importedAt,
        reading_id: readingId,
        meaning: used?.meaning ?? null,
      }
    })
    await insertNew(db, 'imports', columns, [])
  })
}

/** What became of the rows with these keys, by key; a key that is not known is not in it. */
export async function importedRowsOf(db: Database, keys: readonly string[]): Promise<Map<string, KnownRow>> {
  const found = new Map<string, KnownRow>()
  const wanted = keys.map(key => ({ source_key: key }))
  for (const row of await rowsLike(db, 'imports', wanted)) found.set(row.source_key, importedRowOf(row))
  return found
}

/** Whether any key that begins so is known. */
export async function hasImports(db: Database, prefix: string): Promise<boolean> {
  const row = await db
    .selectFrom('imports')
    .select('source_key')
    // A range, not `like`: keys may hold % and _, and the range uses the primary key.
    .where('source_key', '>=', prefix)
    .where('source_key', '<', `${prefix}\u{10ffff}`)
    .executeTakeFirst()
  return row !== undefined
}

/** The rows that the runs of these interventions came from, by run; a run of our own is not in it. */
export async function importsOf(
  db: Database,
  interventionIds: readonly number[],
): Promise<Map<number, Pick<ImportedRow, 'place' | 'text'>>> {
  const found = new Map<number, Pick<ImportedRow, 'place' | 'text'>>()
  const wanted = interventionIds.map(id => ({ intervention_id: id }))
  for (const row of await rowsLike(db, 'imports', wanted)) {
    if (row.run_id !== null) found.set(row.run_id, { place: placeOf(row), text: row.text })
  }
  return found
}

function importedRowOf(row: Tables['imports']): KnownRow {
  const { version_id, intervention_id, run_id, text, reason, reading_id: readingId, meaning } = row
  const place = placeOf(row)
  return version_id !== null && intervention_id !== null
    ? { versionId: version_id, interventionId: intervention_id, runId: run_id, place, text, readingId, meaning }
    : { reason: reason ?? '', place, text, readingId }
}

/** A million rows of a log hold a million numbers, and not as many texts. */
function placeColumns(place: string | null): Pick<Tables['imports'], 'line' | 'place'> {
  const line = /^line ([1-9]\d{0,14})$/.exec(place ?? '')
  return line === null ? { line: null, place } : { line: Number(line[1]), place: null }
}

/** `line 12`, `run 3f2a`; null where it was not noted. */
export function placeOf({ line, place }: Pick<Tables['imports'], 'line' | 'place'>): string | null {
  return line === null ? place : `line ${line}`
}
