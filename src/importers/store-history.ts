/**
 * Writes an imported history into the ledger: a reference becomes a version, a row an intervention with its run, a kept row
 * a new version as well, whose reference run is the same observation. All in one transaction. What a row became is noted
 * under its key, so importing the file again, or the file grown by new rows, adds only what is new.
 */

import { mergePatch } from '../experiment/configuration.ts'
import { type Family, objectiveOf, type Reference, type Version } from '../experiment/environment.ts'
import { interventionHash, referenceHash } from '../experiment/identity.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { ImportedHistory, ImportedRow, UnusableRow } from './history.ts'

export interface StoredHistory {
  readonly familyId: string
  /** Rows that are in the ledger now and were not before. */
  readonly added: { readonly references: number; readonly kept: number; readonly tried: number }
  /** Rows that an earlier import had brought already. */
  readonly known: number
  readonly unusable: readonly UnusableRow[]
  /** The version that the last kept row became; null when the file holds no row at all. */
  readonly lastVersionId: string | null
  /** Whether that version is the family's current one now. */
  readonly isCurrent: boolean
}

export async function storeHistory(ledger: Ledger, family: Family, history: ImportedHistory): Promise<StoredHistory> {
  const objective = objectiveOf(family).name
  if (history.metrics[0].name !== objective) {
    throw new Error(
      `storeHistory: ${history.source} was read for the metric ${history.metrics[0].name}, but ${family.name} is about ${objective}; read it with that metric`,
    )
  }
  return ledger.transaction(async ledger => {
    const familyId = await ledger.ensureFamily(family)
    const known = await ledger.importedRows(`${familyId} `)
    const keyOf = (key: string, as: 'row' | 'reference' | 'unusable') => `${familyId} ${as} ${key}`
    const versions = new Map<string, Version>()
    const repeats = new Map<number, number>()
    const added = { references: 0, kept: 0, tried: 0 }
    let lastVersionId: string | null = null

    for (const row of history.rows) {
      const became = known.get(keyOf(row.key, 'row'))
      if (became === undefined) {
        await storeRow(row)
        added[row.role === 'reference' ? 'references' : row.role]++
      } else if (row.role !== 'tried') {
        const built = known.get(keyOf(row.key, 'reference')) ?? became
        if (!('reason' in built)) versions.set(row.key, (await ledger.version(built.versionId))!)
      }
      lastVersionId = versions.get(row.key)?.id ?? lastVersionId
    }
    for (const row of history.unusable) {
      await ledger.recordImport(keyOf(row.key, 'unusable'), {
        reason: row.reason,
        line: lineOf(row.place),
        text: row.text,
      })
    }
    const stored = added.references + added.kept + added.tried
    if (lastVersionId !== null && stored > 0) await goForward(ledger, familyId, lastVersionId)
    const isCurrent = lastVersionId !== null && (await ledger.currentVersion(familyId))?.version.id === lastVersionId
    return {
      familyId,
      added,
      known: history.rows.length - stored,
      unusable: history.unusable,
      lastVersionId,
      isCurrent,
    }

    async function storeRow(row: ImportedRow): Promise<void> {
      const base = await versionBefore(row)
      if (row.role === 'reference') {
        const version = base ?? (await ledger.ensureVersion(familyId, referenceOf(row, row.intervention.overrides)))
        await storeRun(row, 'row', version.id, await ledger.ensureReference(version.id))
        versions.set(row.key, version)
        return
      }
      const { reference, id } = base!
      const { overrides, diff, sentence, origin } = row.intervention
      const configuration =
        overrides === null ? reference.configuration : mergePatch(reference.configuration, overrides)
      const hash =
        overrides === null && diff === null
          ? interventionHash({ sentence, origin })
          : interventionHash({ configuration, tree: row.code?.treeAfterDiff ?? reference.tree })
      const interventionId =
        hash === referenceHash(reference)
          ? await ledger.ensureReference(id)
          : (await ledger.ensureIntervention(id, hash, row.intervention)).id
      await storeRun(row, 'row', id, interventionId)
      if (row.role === 'kept') {
        const parent = { versionId: id, interventionId }
        const version = await ledger.ensureVersion(familyId, referenceOf(row, configuration), parent)
        await storeRun(row, 'reference', version.id, await ledger.ensureReference(version.id))
        versions.set(row.key, version)
      }
    }

    /** The version a row was tried on; for a reference that is measured again, its own; null for one that is not. */
    async function versionBefore(row: ImportedRow): Promise<Version | null> {
      const before = row.against === null ? undefined : versions.get(row.against)
      if (before) return before
      if (row.role === 'reference') return null
      const label = `what ${history.source} began with`
      return ledger.ensureVersion(familyId, { configuration: null, commit: null, tree: null, code: null, label })
    }

    async function storeRun(
      row: ImportedRow,
      as: 'row' | 'reference',
      versionId: string,
      interventionId: number,
    ): Promise<void> {
      const count =
        repeats.get(interventionId) ?? (await ledger.runsOf(interventionId)).filter(run => run.seed < 0).length
      repeats.set(interventionId, count + 1)
      const [runId] = await ledger.importRuns([
        { interventionId, seed: unknownSeed(count), attempt: 0, outcome: row.outcome },
      ])
      const became = { versionId, interventionId, runId: runId!, line: lineOf(row.place), text: row.note }
      await ledger.recordImport(keyOf(row.key, as), became)
    }
  })
}

/** The number of the line, where that is what the place is. */
function lineOf(place: string): number | null {
  const match = /^line (\d+)$/.exec(place)
  return match ? Number(match[1]) : null
}

/** A log does not say which seed a run had: counted down from -1, so that it never stands for a seed that somebody asks for. */
function unknownSeed(repeat: number): number {
  return -1 - repeat
}

/** The label counts only where neither code nor configuration is known; the key in it keeps rows of one commit apart. */
function referenceOf(row: ImportedRow, configuration: Reference['configuration']): Reference {
  return {
    configuration,
    commit: row.code?.commit ?? null,
    tree: row.code?.tree ?? null,
    code: null,
    label: `${row.commit ?? row.intervention.sentence.slice(0, 60)} (${row.key.slice(0, 8)})`,
  }
}

/**
 * Makes the last version current where the family has none, and where the current one was imported or is its ancestor: an
 * import goes forward, and never takes away a reference that somebody configured or promoted.
 */
async function goForward(ledger: Ledger, familyId: string, last: string): Promise<void> {
  const current = await ledger.currentVersion(familyId)
  if (current?.version.id === last) return
  const ancestors = await ledger.lineage(last)
  const isForward =
    current === null || current.why === 'imported' || ancestors.some(({ id }) => id === current.version.id)
  if (isForward) await ledger.setCurrentVersion(familyId, last, 'imported')
}
