/**
 * What became of each row of an imported source, by a key that the importer gives it: importing twice changes nothing,
 * and what could not be used is listed with the reason.
 */
import { now } from './environments.ts'
import type { Database } from './tables.ts'
import { inTransaction } from './transaction.ts'

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
  return inTransaction(db, async db => {
    const used = 'reason' in row ? null : row
    const written = await db
      .insertInto('imports')
      .values({
        source_key: sourceKey,
        version_id: used?.versionId ?? null,
        intervention_id: used?.interventionId ?? null,
        run_id: used?.runId ?? null,
        line: row.line,
        text: row.text,
        reason: 'reason' in row ? row.reason : null,
        imported_at: now(),
      })
      .onConflict(conflict => conflict.doNothing())
      .returning('source_key')
      .executeTakeFirst()
    return written !== undefined
  })
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
  return new Map(
    rows.map(({ source_key, version_id, intervention_id, run_id, line, text, reason }) => [
      source_key,
      version_id !== null && intervention_id !== null
        ? { versionId: version_id, interventionId: intervention_id, runId: run_id, line, text }
        : { reason: reason ?? '', line, text },
    ]),
  )
}
