/** One prepared history on its way into the ledger: as part of the folder's environment, or as an environment of its own. */
import { familyId } from '../experiment/environment.ts'
import { definitionOf } from '../importers/earlier-readings.ts'
import { examine, leakingRows } from '../importers/examine.ts'
import type { ImportedRow } from '../importers/history.ts'
import { importedName } from '../importers/imported-family.ts'
import { storeHistory } from '../importers/store-history.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredReading } from '../ledger/readings.ts'
import { singleLine } from '../report/outside-text.ts'
import { placeList } from './import-places.ts'
import type { PreparedHistory } from './import-prepare.ts'
import { noteNowAndThen } from './import-progress.ts'
import { referenceIn } from './import-reference.ts'
import type { ImportedEnvironment } from './imported.ts'
import type { Context } from './operation.ts'

export interface Import {
  /** Tells where the source is, and does not say it. */
  readonly place: string
  /** Readings that are in force. */
  readonly standing: readonly StoredReading[]
  /** Why it would be refused, were it no dry run. */
  readonly refusal: string | null
  readonly dryRun: boolean
  /** The command that reads the source anew. */
  readonly anew: string
}

export async function storeImported(
  { history, family, opened, flags, missing, earlier, source, metricSaid }: PreparedHistory,
  { place, standing, refusal, dryRun, anew }: Import,
  ledger: Ledger,
  context: Context,
): Promise<ImportedEnvironment> {
  const before = (await ledger.currentVersion(familyId(family)))?.version.id ?? null
  const stands = (reading: StoredReading | null) => standing.some(({ id }) => id === reading?.id)
  const goesOn = stands(earlier.same)
  const reading = goesOn ? { id: earlier.same!.id } : { place, source, definition: definitionOf(flags, history.rows) }
  const written =
    history.rows.length === 0 || refusal !== null
      ? nothingStored
      : await storeHistory(ledger, family, history, { reading, progress: noteNowAndThen(context, 'stored') })
  const { leaking, atRisk, dates, unusable } = examine(history)
  const mended = mendedText(family.name, written.mended, anew)
  const stored = mended === null ? written : nothingStored
  return {
    name: opened === null ? importedName(history) : family.name,
    isHere: opened !== null,
    metrics: history.metrics,
    metricSaid,
    constraints: history.constraints,
    reference: referenceIn(history),
    statuses: history.statuses,
    columns: history.columns ?? [],
    doubtful: history.doubtful ?? [],
    guesses: history.guesses,
    added: stored.added,
    known: stored.known,
    rows: history.rows.length,
    refusal: refusal ?? mended,
    alsoIn: await namesOf(earlier.elsewhere.filter(stands), ledger),
    vanished: stored.vanished,
    isReadOtherwise: goesOn && !earlier.isAlike,
    unusable: history.unusable,
    unusableByReason: unusable,
    withoutCode: missing,
    violated: history.rows.filter(({ outcome }) => outcome.kind === 'violated').length,
    leaking,
    cuts: dryRun ? leakingRows(history).map(cutOf) : [],
    atRisk,
    dates,
    changesReference: opened !== null && stored.isCurrent && stored.lastVersionId !== before,
  }
}

function mendedText(name: string, places: readonly string[], anew: string): string | null {
  if (places.length === 0) return null
  const [are, they] = places.length === 1 ? ['is another row', 'and both'] : ['are other rows', 'and all']
  return `${singleLine(name)}: ${placeList(places)} ${are} than when it was imported, ${they} would count. To have it as it is now: ${anew}`
}

/** The names of the environments into which these were read. */
export async function namesOf(
  readings: readonly { readonly familyId: string }[],
  ledger: Ledger,
): Promise<readonly string[]> {
  const ids = [...new Set(readings.map(({ familyId }) => familyId))]
  return Promise.all(ids.map(async id => (await ledger.family(id))!.name))
}

function cutOf({ place, intervention, note }: ImportedRow): ImportedEnvironment['cuts'][number] {
  return { place, tried: intervention.sentence, cut: note! }
}

const nothingStored = {
  added: { references: 0, kept: 0, tried: 0 },
  known: 0,
  isCurrent: false,
  lastVersionId: null,
  vanished: [],
  mended: [],
}
