/**
 * Writes an imported history into the ledger: a reference becomes a version, a row an intervention with its run, a kept row
 * a new version as well, whose reference run is the same observation. All in one transaction. What a row became is noted
 * under its key, so importing the file again, or the file grown by new rows, adds only what is new. How the source was read is noted too.
 */
import { type Family, objectiveOf } from '../experiment/environment.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { NewReading } from '../ledger/readings.ts'
import type { ImportedHistory, UnusableRow } from './history.ts'
import { HistoryRows, rowsAtOnce } from './history-rows.ts'

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
  /** Known rows of which something else is made now, or that are against another row. */
  readonly otherwise: number
  /** Where rows stood that an earlier reading brought and that are not in the source any more; they stay. */
  readonly vanished: readonly string[]
  /** Those of them that came again as other rows: what was one row would be two. */
  readonly mended: readonly string[]
}

/** The reading that brings the rows: one that is in the ledger and goes on, or a new one. */
export type HistoryReading = { readonly id: number } | Omit<NewReading, 'familyId'>

/** `progress` is told now and then how many rows have been looked at. Without a reading, what is stored cannot be withdrawn. */
export async function storeHistory(
  ledger: Ledger,
  family: Family,
  history: ImportedHistory,
  { reading, progress }: { readonly reading?: HistoryReading; readonly progress?: (rows: number) => void } = {},
): Promise<StoredHistory> {
  const objective = objectiveOf(family).name
  if (history.metrics[0].name !== objective) {
    throw new Error(
      `storeHistory: ${history.source} was read for the metric ${history.metrics[0].name}, but ${family.name} is about ${objective}; read it with that metric`,
    )
  }
  return ledger.transaction(async ledger => {
    const familyId = await ledger.ensureFamily(family)
    // Of a family that an earlier version of Almanac imported, rows are known by longer keys.
    const hasLongKeys = await ledger.hasImports(`${familyId} `)
    const goesOn = reading !== undefined && 'id' in reading
    const readingId =
      reading === undefined ? null : goesOn ? reading.id : await ledger.storeReading({ ...reading, familyId })
    const store = new HistoryRows(ledger, familyId, history.source, { hasLongKeys, readingId, goesOn })
    const added = { references: 0, kept: 0, tried: 0 }
    let known = 0
    for (let start = 0; start < history.rows.length; start += rowsAtOnce) {
      const rows = history.rows.slice(start, start + rowsAtOnce)
      const isNew = await store.add(rows)
      for (const [index, { role }] of rows.entries()) {
        if (isNew[index]) added[role === 'reference' ? 'references' : role]++
        else known++
      }
      progress?.(start + rows.length)
    }
    const isEmpty = known === history.rows.length && !goesOn
    // A reading that brought nothing would be believed to have brought what is known.
    if (isEmpty && readingId !== null) await ledger.withdrawReadings([readingId])
    await store.leaveOut(history.unusable, isEmpty ? null : readingId)
    const { lastVersionId } = store
    if (lastVersionId !== null && known < history.rows.length) await goForward(ledger, familyId, lastVersionId)
    const isCurrent = lastVersionId !== null && (await ledger.currentVersion(familyId))?.version.id === lastVersionId
    const gone = goesOn ? await store.vanished(reading.id, history.rows, objective) : { vanished: [], mended: [] }
    return {
      familyId,
      added,
      known,
      unusable: history.unusable,
      lastVersionId,
      isCurrent,
      otherwise: store.otherwise,
      ...gone,
    }
  })
}

/**
 * Makes the last version current where the family has none, and where the current one was imported or is its ancestor: an
 * import goes forward, and never takes away a reference that somebody configured or promoted.
 */
async function goForward(ledger: Ledger, familyId: string, last: string): Promise<void> {
  const current = await ledger.currentVersion(familyId)
  if (current?.version.id === last) return
  const ancestors = await ledger.lineage(last)
  // Code that is known by a hash alone cannot be run again: it takes no place of what somebody configured or promoted.
  const isByHashAlone = ancestors[0]?.reference.code != null && ancestors[0].reference.commit === null
  if (current !== null && current.why !== 'imported' && isByHashAlone) return
  const isForward =
    current === null || current.why === 'imported' || ancestors.some(({ id }) => id === current.version.id)
  if (isForward) await ledger.setCurrentVersion(familyId, last, 'imported')
}
