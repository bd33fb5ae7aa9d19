/**
 * Puts a file of records into a ledger, in one transaction. Storing it again, or a file that has grown, adds only what is
 * new; what the ledger has stays as it is.
 */
import type { Ledger } from '../ledger/ledger.ts'
import type { RecordsFile } from './records-jsonl.ts'

export interface StoredRecords {
  readonly familyId: string
  readonly interventions: { readonly added: number; readonly known: number }
  readonly runs: { readonly added: number; readonly known: number }
  /** In the file's order; a version that was promoted from another stands behind it. */
  readonly versionIds: readonly string[]
}

export async function storeRecords(ledger: Ledger, file: RecordsFile): Promise<StoredRecords> {
  return ledger.transaction(async ledger => {
    const familyId = await ledger.ensureFamily(file.family)
    const count = { interventions: { added: 0, known: 0 }, runs: { added: 0, known: 0 } }
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
      for (const run of ids) count.runs[run === null ? 'known' : 'added']++
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
