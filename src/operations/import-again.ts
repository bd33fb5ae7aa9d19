/**
 * A source that was imported before. Where nothing is said of it, it is read as it was read then, so that new rows land where the others
 * are. Where it is read otherwise, or its rows stand in another environment, nothing is stored until the user says that what stands is to
 * be replaced: rows that are there twice would count twice in every forecast.
 */
import { realpathSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { familyId, type Metric, objectiveOf } from '../experiment/environment.ts'
import { canonicalJson, contentHash, type JsonObject } from '../experiment/json.ts'
import { flagsOf } from '../importers/earlier-readings.ts'
import type { Source } from '../importers/importer.ts'
import { keysOf } from '../importers/row-keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredReading } from '../ledger/readings.ts'
import { countText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { areFlags, flagsText } from './import-flags.ts'
import type { PreparedHistory } from './import-prepare.ts'
import { familiesOf, namesOf } from './import-store.ts'
import type { ImportedEnvironment } from './imported.ts'
import { InputError } from './operation.ts'
import { shellWord } from './shell-word.ts'

/** Tells where a source is, seen from the ledger, and does not say it: both may move together. */
export function placeOfSource(source: Source, ledgerFile: string): string {
  const where =
    source.kind === 'address'
      ? [source.url.host, source.url.pathname]
      : relative(real(dirname(ledgerFile)), real(source.path)).split(sep)
  // Too short a hash to find an address by trying all there are.
  return contentHash(where).slice(0, 6)
}

/** Without links on the way, as far as it is there. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** What was said of the source in the readings that stand, each once; not of records, of which nothing is said. */
export function flagsOfBefore(readings: readonly StoredReading[]): JsonObject[] {
  const said = readings.map(flagsOf).filter(areFlags)
  return [...new Map(said.map(flags => [canonicalJson(flags), flags])).values()]
}

/** What was said of the source, as flags on a command line with a space before them; nothing of records. */
export function saidText(reading: StoredReading): string {
  const flags = flagsOf(reading)
  return areFlags(flags) ? flagsText(flags) : ''
}

/**
 * The objective of the environments of their own that these flags made of the source; null where there are several, or the folder says it.
 */
export async function objectiveOfBefore(
  flags: readonly JsonObject[],
  here: readonly StoredReading[],
  ledger: Ledger,
): Promise<Pick<Metric, 'name' | 'direction'> | null> {
  const own = new Set(flags.map(canonicalJson))
  const mine = here.filter(each => own.has(canonicalJson(flagsOf(each))))
  const families = await familiesOf(mine, ledger)
  const objectives = families.map(family => (family.command === null ? objectiveOf(family) : null))
  const [first] = objectives
  const isOne = objectives.every(each => each?.name === first?.name && each?.direction === first?.direction)
  return first && isOne ? { name: first.name, direction: first.direction } : null
}

/** Whether the rows were read from the same source by none of these flags, but by others, which are read again as well. */
export function isReadByOthers(
  prepared: PreparedHistory,
  flags: readonly JsonObject[],
  here: readonly StoredReading[],
): boolean {
  const own = new Set(flags.map(canonicalJson))
  const ids = new Set(here.map(({ id }) => id))
  const ofHere = replacedBy(prepared).filter(({ id }) => ids.has(id))
  return ofHere.length > 0 && ofHere.every(each => !own.has(canonicalJson(flagsOf(each))))
}

/** Those that a history read with `--replace` takes the place of. */
export function replacedBy({ earlier }: PreparedHistory): readonly StoredReading[] {
  return [...earlier.here, ...earlier.elsewhere]
}

/**
 * Why readings of other places cannot give way: they brought rows that are none of these, and would be in no list any more. Null where
 * nothing is lost.
 */
export async function lostBy(
  replaced: readonly StoredReading[],
  histories: readonly PreparedHistory[],
  place: string,
  ledger: Ledger,
): Promise<string | null> {
  const rowsNow = histories.flatMap(({ history }) => history.rows)
  for (const reading of replaced.filter(reading => reading.place !== place)) {
    const there = keysOf(reading.familyId, rowsNow)
    const rows = await ledger.rowsOfReading(reading.id)
    const lost = new Set(rows.filter(({ key }) => !there.has(key)).map(({ place }) => place))
    if (lost.size === 0) continue
    const source = singleLine(reading.source)
    return `${countText(lost.size, 'row')} that came from ${source} ${lost.size === 1 ? 'is' : 'are'} not in this source, and would be left out with the others. If that is meant: almanac withdraw --environment ${shellWord((await namesOf([reading], ledger))[0]!)}, and then import this one; to have both, give this one a name of its own with --as NAME.`
  }
  return null
}

/** Throws where another process imported the same source, or into the same environments, while this one read: its rows were not compared. */
export function refuseWhatCameMeanwhile(
  now: readonly StoredReading[],
  known: readonly StoredReading[],
  histories: readonly PreparedHistory[],
  place: string,
): void {
  const ids = new Set(known.map(({ id }) => id))
  const families = new Set(histories.map(({ family }) => familyId(family)))
  const came = now.some(each => !ids.has(each.id) && (each.place === place || families.has(each.familyId)))
  const went = known.some(each => each.place === place && now.every(({ id }) => id !== each.id))
  if (came || went) {
    throw new InputError(
      'Another process imported or withdrew the same meanwhile, and nothing was stored: repeat the command.',
    )
  }
}

/** Throws where most of what would come instead cannot be used: a wrong flag, or a file that is being written, would take a history away. */
export function refuseWhatReplacesNothing(
  environments: readonly ImportedEnvironment[],
  replacedRows: number,
  given: string,
): void {
  const usable = environments.reduce((total, { rows }) => total + rows, 0)
  const unusable = environments.reduce((total, { unusable }) => total + unusable.length, 0)
  if (replacedRows === 0 || (usable > 0 && (usable >= unusable || usable * 2 >= replacedRows))) return
  const reason = environments.flatMap(({ unusable }) => unusable.map(({ reason }) => reason))[0]
  throw new InputError(
    `${countText(replacedRows, 'row')} would be left out, and ${usable} can be used instead${reason === undefined ? '' : `; the first of ${unusable} that cannot: ${reason}`}. Nothing was changed; if it is meant: almanac withdraw ${shellWord(given)}, and then import.`,
  )
}

/** Why the history cannot be stored beside the readings that stand, in a sentence with the ways out; null where it can. */
export async function refusalOf(
  prepared: PreparedHistory,
  {
    place,
    given,
    sameFlags = '',
  }: { readonly place: string; readonly given: string; readonly sameFlags?: string | undefined },
  standing: readonly StoredReading[],
  ledger: Ledger,
): Promise<string | null> {
  const { earlier, family, flags, opened, history } = prepared
  if (history.rows.length === 0) return null
  const name = singleLine(family.name)
  const command = (more: string) => `almanac import ${shellWord(given)}${flagsText(flags)}${more}${sameFlags}`
  const ids = new Set(standing.map(({ id }) => id))
  const stands = ({ id }: StoredReading) => ids.has(id)
  const goesOn = earlier.same !== null && stands(earlier.same)
  const elsewhere = earlier.elsewhere.filter(stands)
  const names = (await namesOf(elsewhere, ledger)).map(singleLine)
  if (names.length > 0 && flags['as'] === undefined) {
    const metrics = [...new Set((await familiesOf(elsewhere, ledger)).map(each => objectiveOf(each).name))]
    const metric = objectiveOf(family).name
    // Where the name is the same, what tells the two apart is said.
    const [those, these] = !names.includes(name)
      ? ['', '']
      : metrics.includes(metric)
        ? [', under other rules', ' under these']
        : [`, about ${metrics.join(', ')}`, ` about ${metric}`]
    return `These rows stand in the ledger as ${names.join(', ')}${those}, and would count twice. To have them as ${name}${these} instead: ${command(' --replace')}; to have both, give this one a name of its own with --as NAME.`
  }
  if (opened !== null) return null
  const id = familyId(family)
  const namesakes = (await ledger.families(family.name)).filter(each => each.id !== id)
  if (namesakes.length > 0) {
    const metrics = namesakes.map(each => objectiveOf(each.family).name).join(', ')
    const isOfSource = namesakes.some(({ id }) => standing.some(each => each.familyId === id && each.place === place))
    const replacing = isOfSource ? `to have this one instead: ${command(' --replace')}; to have both, ` : ''
    return `The ledger has another environment called ${name}, about ${metrics} or with other rules; ${replacing}give this one a name of its own with --as NAME.`
  }
  const before = standing.filter(reading => reading.familyId === id)
  const isElsewhere = before.length > 0 && before.every(reading => reading.place !== place)
  if (isElsewhere && !goesOn && flags['as'] === undefined) {
    return `The rows of ${name} in the ledger came from another place; give these a name of their own with --as NAME, or add them to those with --as ${shellWord(family.name)}.`
  }
  return null
}
