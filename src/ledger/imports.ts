/**
 * What became of each row of an imported source, by a key that the importer gives it: importing twice changes nothing,
 * and what could not be used is listed with the reason.
 */
import { now } from './environments.ts'
import type { Database, Tables } from './tables.ts'
import { inPieces, inTransaction } from './transaction.ts'

/** A row that became an intervention (and usually a run), or one that could not be used. */
export type ImportedRow =
  | {
      readonly versionId: string
      readonly interventionId: number
      readonly runId: number | null
      readonly line: number | null
      readonly text: string | null
    }
  | { readonly reason: string; readonly line: number | null; readonly text: string | null }

/** Notes what the row became. False, and nothing changes, when the key is known. */
export async function recordImport(db: Database, sourceKey: string, row: ImportedRow): Promise<boolean> {
  const [isNew] = await recordImports(db, [[sourceKey, row]])
  return isNew!
}

/** The same for many at once, in order. */
export async function recordImports(
  db: Database,
  rows: readonly (readonly [sourceKey: string, row: ImportedRow])[],
): Promise<boolean[]> {
  return inTransaction(db, async db => {
    const isNew: boolean[] = []
    for (const piece of inPieces(rows)) {
      const importedAt = now()
      const written = await db
        .insertInto('imports')
        .values(
          piece.map(([sourceKey, row]) => {
            const used = 'reason' in row ? null : row
            return {
              source_key: sourceKey,
              version_id: used?.versionId ?? null,
              intervention_id: used?.interventionId ?? null,
              run_id: used?.runId ?? null,
              line: row.line,
              text: row.text,
              reason: 'reason' in row ? row.reason : null,
              imported_at: importedAt,
            }
          }),
        )
        .onConflict(conflict => conflict.doNothing())
        .returning('source_key')
        .execute()
      const keys = new Set(written.map(({ source_key }) => source_key))
      for (const [sourceKey] of piece) isNew.push(keys.delete(sourceKey))
    }
    return isNew
  })
}

/** What became of the rows with these keys, by key; a key that is not known is not in it. */
export async function importedRowsOf(db: Database, keys: readonly string[]): Promise<Map<string, ImportedRow>> {
  const found = new Map<string, ImportedRow>()
  for (const piece of inPieces(keys)) {
    const rows = await db.selectFrom('imports').selectAll().where('source_key', 'in', piece).execute()
    for (const row of rows) found.set(row.source_key, importedRowOf(row))
  }
  return found
}

/** Every known row whose key begins with the prefix, by key, in order of import. */
export async function importedRows(db: Database, prefix: string): Promise<Map<string, ImportedRow>> {
  const rows = await db
    .selectFrom('imports')
    .selectAll()
    // A range, not `like`: keys may hold % and _, and the range uses the primary key.
    .where('source_key', '>=', prefix)
    .where('source_key', '<', `${prefix}\u{10ffff}`)
    .orderBy('imported_at')
    .orderBy('line')
    .execute()
  return new Map(rows.map(row => [row.source_key, importedRowOf(row)]))
}

function importedRowOf({ version_id, intervention_id, run_id, line, text, reason }: Tables['imports']): ImportedRow {
  return version_id !== null && intervention_id !== null
    ? { versionId: version_id, interventionId: intervention_id, runId: run_id, line, text }
    : { reason: reason ?? '', line, text }
}
