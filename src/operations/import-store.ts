/** One prepared history on its way into the ledger: as part of the folder's environment, or as an environment of its own. */
import { currentEnvironment } from '../campaign/current-environment.ts'
import { type Family, familyId } from '../experiment/environment.ts'
import { canonicalJson, type JsonObject } from '../experiment/json.ts'
import { definitionOf, flagsOf } from '../importers/earlier-readings.ts'
import { examine, leakingRows } from '../importers/examine.ts'
import type { ImportedRow } from '../importers/history.ts'
import { importedName } from '../importers/imported-family.ts'
import { type StoredHistory, storeHistory } from '../importers/store-history.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredReading } from '../ledger/readings.ts'
import { countText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { byFlags, flagsText } from './import-flags.ts'
import { placeList } from './import-places.ts'
import type { PreparedHistory } from './import-prepare.ts'
import { noteNowAndThen } from './import-progress.ts'
import { referenceIn } from './import-reference.ts'
import type { ImportedEnvironment } from './imported.ts'
import type { Context } from './operation.ts'
import { shellWord } from './shell-word.ts'

export interface Import {
  /** Tells where the source is, and does not say it. */
  readonly place: string
  /** Readings that are in force. */
  readonly standing: readonly StoredReading[]
  /** Why it would be refused, were it no dry run. */
  readonly refusal: string | null
  readonly dryRun: boolean
  /** Whether the user names where the rows go, so that they join what is there already. */
  readonly adds: boolean
  /** The source as it stands on a command line, and the flags by which a further call reaches the same ledger. */
  readonly given: string
  readonly sameFlags: string
}

export async function storeImported(
  { history, family, opened, flags, missing, earlier, source, metricSaid }: PreparedHistory,
  { place, standing, refusal, dryRun, adds, given, sameFlags }: Import,
  ledger: Ledger,
  context: Context,
): Promise<ImportedEnvironment> {
  const before = (await ledger.currentVersion(familyId(family)))?.version.id ?? null
  const stands = (reading: StoredReading | null) => standing.some(({ id }) => id === reading?.id)
  const same = stands(earlier.same) ? earlier.same : null
  const reading = same !== null ? { id: same.id } : { place, source, definition: definitionOf(flags, history.rows) }
  const written =
    history.rows.length === 0 || refusal !== null
      ? nothingStored
      : await storeHistory(ledger, family, history, { reading, progress: noteNowAndThen(context, 'stored') })
  const { leaking, atRisk, dates, unusable } = examine(history)
  const { added, mended } = written
  const isNew = added.references + added.kept + added.tried > 0
  const isSaidOtherwise = same !== null && canonicalJson(flagsOf(same)) !== canonicalJson(flags)
  // What an export or a copy says is known by other keys.
  const isElsewhere = same !== null && same.place !== place && isNew && written.known * 2 < history.rows.length
  const against =
    (isSaidOtherwise && written.otherwise > 0) || (isElsewhere && !adds)
      ? otherwiseText(family.name, flagsOf(same!), `almanac import ${given}${flagsText(flags)} --replace${sameFlags}`)
      : mended.length > 0 && !adds
        ? anotherText(family.name, written, `almanac import ${given} --replace${sameFlags}`)
        : null
  const stored = against === null ? written : nothingStored
  // Nothing can run against a row of which git does not have the commit: then the reference stays the one of the folder.
  const changesReference =
    opened !== null &&
    stored.isCurrent &&
    stored.lastVersionId !== before &&
    (await currentEnvironment(opened, ledger)).version.id === stored.lastVersionId
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
    refusal: refusal ?? against,
    alsoIn: await namesOf(earlier.elsewhere.filter(stands), ledger),
    vanished: stored.vanished,
    isReadOtherwise: stored.otherwise > 0,
    unusable: history.unusable,
    unusableByReason: unusable,
    withoutCode: missing,
    violated: history.rows.filter(({ outcome }) => outcome.kind === 'violated').length,
    leaking,
    cuts: dryRun ? leakingRows(history).map(cutOf) : [],
    atRisk,
    dates,
    changesReference,
  }
}

function otherwiseText(name: string, flags: JsonObject, command: string): string {
  return `${singleLine(name)} has these rows already, read ${byFlags(flags)}. To read them anew and leave out what stands: ${command}`
}

/** Rows of before that came again as other rows. */
function anotherText(
  name: string,
  { vanished, mended }: Pick<StoredHistory, 'vanished' | 'mended'>,
  anew: string,
): string {
  const [are, as] =
    mended.length === 1 ? ['is not what it was', 'what it is now'] : ['are not what they were', 'what they are now']
  const gone = countText(vanished.length, 'row')
  return (
    `${singleLine(name)}: ${placeList(mended)} ${are} when it was imported, and beside ${as} would count twice. To have the source as it is now, ` +
    `without ${gone} of before: ${anew}; if the new rows are other experiments, add them with --as ${shellWord(name)}.`
  )
}

/** The names of the environments into which these were read. */
export async function namesOf(
  readings: readonly { readonly familyId: string }[],
  ledger: Ledger,
): Promise<readonly string[]> {
  return (await familiesOf(readings, ledger)).map(({ name }) => name)
}

/** The families into which these were read, each once. */
export async function familiesOf(
  readings: readonly { readonly familyId: string }[],
  ledger: Ledger,
): Promise<readonly Family[]> {
  const ids = [...new Set(readings.map(({ familyId }) => familyId))]
  return Promise.all(ids.map(async id => (await ledger.family(id))!))
}

function cutOf({ place, intervention, note }: ImportedRow): ImportedEnvironment['cuts'][number] {
  return { place, tried: intervention.sentence, cut: note! }
}

const nothingStored = {
  added: { references: 0, kept: 0, tried: 0 },
  known: 0,
  isCurrent: false,
  lastVersionId: null,
  otherwise: 0,
  vanished: [],
  mended: [],
}
