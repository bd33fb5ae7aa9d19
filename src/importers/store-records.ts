/**
 * Puts a file of records into a ledger, in one transaction. Storing it again, or a file that has grown, adds only what is
 * new; what the ledger has stays as it is. What is new is noted as a reading of the file, which can be withdrawn.
 */
import { contentHash } from '../experiment/json.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { NewReading } from '../ledger/readings.ts'
import { definitionOf } from './earlier-readings.ts'
import type { RecordsFile } from './records-jsonl.ts'

export interface StoredRecords {
  readonly familyId: string
  readonly interventions: { readonly added: number; readonly known: number }
  readonly runs: { readonly added: number; readonly known: number }
  /** In the file's order; a version that was promoted from another stands behind it. */
  readonly versionIds: readonly string[]
}

/** Where the file is, in words that do not say it, and what it is called. */
export type RecordsSource = Pick<NewReading, 'place' | 'source'>

/** Without a source, what is stored cannot be withdrawn. */
export async function storeRecords(ledger: Ledger, file: RecordsFile, from?: RecordsSource): Promise<StoredRecords> {
  return ledger.transaction(async ledger => {
    const familyId = await ledger.ensureFamily(file.family)
    const count = { interventions: { added: 0, known: 0 }, runs: { added: 0, known: 0 } }
    let readingId: number | null = null
    const stored = new Set<string>()
    const created = new Set<string>()
    for (const line of file.lines) {
      await ensure(line.version)
      const { sentence, overrides, diff, tags, origin } = line
      // A new version comes with its reference, so only the version tells whether that is new.
      const isKnown =
        line.kind === 'reference'
          ? !created.delete(line.version)
          : (await ledger.interventionByHash(line.version, line.hash)) !== null
      const id =
        line.kind === 'reference'
          ? await ledger.ensureReference(line.version)
          : (await ledger.ensureIntervention(line.version, line.hash, { sentence, overrides, diff, tags, origin })).id
      count.interventions[isKnown ? 'known' : 'added']++
      const ids = await ledger.importRuns(line.runs.map(run => ({ interventionId: id, ...run })))
      for (const [index, runId] of ids.entries()) {
        count.runs[runId === null ? 'known' : 'added']++
        if (runId === null || from === undefined) continue
        readingId ??= await readingOf(ledger, familyId, file, from)
        const key = contentHash(['records', readingId, line.version, line.hash, index])
        const became = { versionId: line.version, interventionId: id, runId, place: null, text: null }
        await ledger.recordImports([[key.slice(0, 32), became]], readingId)
      }
    }
    for (const { id } of file.versions) await ensure(id)
    return { familyId, ...count, versionIds: file.versions.map(({ id }) => id) }

    /** Versions are stored as late as possible: the record that was promoted to make one comes first. */
    async function ensure(id: string): Promise<void> {
      if (stored.has(id)) return
      stored.add(id)
      if ((await ledger.version(id)) === null) created.add(id)
      const { reference, parent } = file.versions.find(version => version.id === id)!
      if (parent === null) {
        await ledger.ensureVersion(familyId, reference)
        return
      }
      await ensure(parent.version)
      const promoted = await ledger.interventionByHash(parent.version, parent.hash)
      if (promoted === null) {
        throw new Error(
          `storeRecords: version ${id} was made from the intervention ${parent.hash}, which is not in the file before it`,
        )
      }
      await ledger.ensureVersion(familyId, reference, { versionId: parent.version, interventionId: promoted.id })
    }
  })
}

/** Goes on with what the same file brought before. */
async function readingOf(ledger: Ledger, familyId: string, file: RecordsFile, from: RecordsSource): Promise<number> {
  const known = (await ledger.readings()).findLast(
    reading => reading.place === from.place && reading.familyId === familyId,
  )
  if (known !== undefined) return known.id
  const rows = file.lines.flatMap(({ hash, runs, ...intervention }) =>
    runs.map(({ outcome }, index) => ({ key: contentHash([hash, index]), intervention, outcome })),
  )
  return ledger.storeReading({ ...from, familyId, definition: definitionOf({ format: 'almanac-records' }, rows) })
}
