/** A source that is no file of records on its way into the ledger: read, compared with what earlier imports made of it, and stored. */
import { canonicalJson, type JsonObject } from '../experiment/json.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredReading } from '../ledger/readings.ts'
import {
  flagsOfBefore,
  isReadByOthers,
  lostBy,
  objectiveOfBefore,
  refusalOf,
  refuseWhatCameMeanwhile,
  refuseWhatReplacesNothing,
  replacedBy,
} from './import-again.ts'
import { flagsText } from './import-flags.ts'
import { type PreparedHistory, prepare, type SourceToImport } from './import-prepare.ts'
import { flagsWithBefore, type JoinedFlags } from './import-said.ts'
import { storeImported } from './import-store.ts'
import type { Imported, ImportedEnvironment } from './imported.ts'
import { type Context, InputError } from './operation.ts'
import { rolledBack } from './rolled-back.ts'
import { shellWord } from './shell-word.ts'
import { ledgerPath } from './surroundings.ts'

export interface SaidOfSource {
  /** As the user named it. */
  readonly given: string
  readonly flags: JsonObject
  /** Earlier readings of it give way. */
  readonly replace: boolean
}

export async function importSource(
  wanted: SourceToImport,
  { given, flags, replace }: SaidOfSource,
  ledger: Ledger,
  context: Context,
): Promise<Imported> {
  const { source, opened, dryRun, place, adds } = wanted
  const known = await ledger.readings()
  const here = known.filter(reading => reading.place === place)
  const before = flagsWithBefore(flags, flagsOfBefore(here))
  const { format, histories } =
    before.length > 0
      ? await prepareAsBefore(wanted, before, here, Object.keys(flags).length === 0, ledger, context)
      : await prepare(wanted, flags, ledger, context)
  const isWhole = flags['environment'] === undefined && flags['revisions'] === undefined
  const replaced = replace ? [...(isWhole ? here : []), ...histories.flatMap(replacedBy)] : []
  const replacedIds = [...new Set(replaced.map(({ id }) => id))]
  const replacedRows = await ledger.countRowsOfReadings(replacedIds)
  const store = async (ledger: Ledger): Promise<ImportedEnvironment[]> => {
    refuseWhatCameMeanwhile(await ledger.readings(), known, histories, place)
    const lost = await lostBy(replaced, histories, place, ledger)
    await ledger.withdrawReadings(replacedIds)
    const standing = await ledger.readings()
    const named = { place, given, sameFlags: context.sameFlags ?? '' }
    const environments: ImportedEnvironment[] = []
    for (const each of histories) {
      const refusal = lost ?? (await refusalOf(each, named, standing, ledger))
      environments.push(
        await storeImported(
          each,
          { ...named, given: shellWord(given), standing, refusal, dryRun, adds },
          ledger,
          context,
        ),
      )
    }
    refuseWhatReplacesNothing(environments, replacedRows, given)
    const refusals = new Set(environments.flatMap(({ refusal }) => refusal ?? []))
    if (!dryRun && refusals.size > 0) throw new InputError([...refusals].join('\n'))
    return environments
  }
  const environments = await (dryRun ? rolledBack(ledger, store) : ledger.transaction(store))
  const sum = (count: (each: ImportedEnvironment) => number) =>
    environments.reduce((total, each) => total + count(each), 0)
  return {
    source: source.name,
    given,
    format,
    dryRun,
    ledger: ledgerPath(context, opened),
    environments,
    added: sum(({ added }) => added.references + added.kept + added.tried),
    known: sum(({ known }) => known),
    replaced: replacedRows,
    asBefore: before.every(each => canonicalJson(each.flags) === canonicalJson(flags))
      ? []
      : before.map(each => flagsText(each.flags)),
    unusable: environments.flatMap(({ unusable }) => unusable),
    withoutCode: environments.flatMap(({ withoutCode }) => withoutCode),
    changesReference: environments.some(({ changesReference }) => changesReference),
  }
}

/** By the flags of each reading that is meant. Where all are, what none of them reads is new in the source, and read without flags. */
async function prepareAsBefore(
  wanted: SourceToImport,
  before: readonly JoinedFlags[],
  here: readonly StoredReading[],
  isForAll: boolean,
  ledger: Ledger,
  context: Context,
): Promise<{ readonly format: string; readonly histories: readonly PreparedHistory[] }> {
  let format = ''
  const histories: PreparedHistory[] = []
  for (const { flags, before: then } of before) {
    const objective = await objectiveOfBefore(then, here, ledger)
    const read = await prepare({ ...wanted, objective }, flags, ledger, context).catch(cause => {
      if (objective !== null) return prepare(wanted, flags, ledger, context)
      if (!(cause instanceof InputError) || flagsText(flags) === '') throw cause
      throw new InputError(
        `${cause.message} (It was read as before, with${flagsText(flags)}; say other flags, or leave out what stands: almanac withdraw PATH)`,
        { cause },
      )
    })
    format = read.format
    histories.push(...read.histories.filter(each => before.length === 1 || !isReadByOthers(each, then, here)))
  }
  if (!isForAll || !before.every(({ flags }) => flags['environment'] !== undefined)) return { format, histories }
  const all = await prepare(wanted, {}, ledger, context)
  return { format, histories: [...all.histories.filter(each => replacedBy(each).length === 0), ...histories] }
}
