/** A source as it is to be stored: which environment each of its histories becomes, and what earlier imports made of the same rows. */
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { OpenEnvironment } from '../campaign/open-environment.ts'
import { type Direction, type Family, familyId } from '../experiment/environment.ts'
import type { JsonObject } from '../experiment/json.ts'
import type { MissingCode } from '../importers/commit-diffs.ts'
import { withConstraints } from '../importers/constraints.ts'
import { type EarlierReadings, earlierReadings } from '../importers/earlier-readings.ts'
import type { ImportedHistory, ImportedRow } from '../importers/history.ts'
import { importedFamily, importedName } from '../importers/imported-family.ts'
import type { Source } from '../importers/importer.ts'
import { keysOf } from '../importers/row-keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredReading } from '../ledger/readings.ts'
import { withCode } from './import-code.ts'
import { flagsFrom, importOptions } from './import-flags.ts'
import { readForFolder } from './import-here.ts'
import { noteNowAndThen } from './import-progress.ts'
import { type Context, InputError } from './operation.ts'
import { asInput, ledgerPath } from './surroundings.ts'

export interface PreparedHistory {
  readonly history: ImportedHistory
  readonly family: Family
  /** The environment of the folder, where it becomes part of that; null where it is one of its own. */
  readonly opened: OpenEnvironment | null
  /** What the user said of the source, here or when they were asked. */
  readonly flags: JsonObject
  readonly missing: readonly MissingCode[]
  readonly earlier: EarlierReadings
  /** What the source is called, without its host and what lies above the folder of the ledger. */
  readonly source: string
  /** Whether the user said which metric is the objective. */
  readonly metricSaid: boolean
}

export interface SourceToImport {
  readonly source: Source
  readonly opened: OpenEnvironment | null
  /** Whether the user says by the way they name it that it is the folder's own log. */
  readonly isOwnLog: boolean
  /** Nobody is asked. */
  readonly dryRun: boolean
  /** Tells where the source is, and does not say it. */
  readonly place: string
  /** Whether the user names where the rows go, so that they join what is there already. */
  readonly adds: boolean
  /** The objective by which it was read before, where nobody says one: a guess may turn out otherwise as the source grows. */
  readonly objective?: { readonly name: string; readonly direction: Direction } | null
}

/** Reads the source as the user says, and its format. */
export async function prepare(
  { source, opened, isOwnLog, dryRun, place, adds, objective = null }: SourceToImport,
  said: JsonObject,
  ledger: Ledger,
  context: Context,
): Promise<{ readonly format: string; readonly histories: readonly PreparedHistory[] }> {
  const flags = flagsFrom(said)
  const given = importOptions(flags)
  const token = context.variables['MLFLOW_TRACKING_TOKEN']
  const progress = noteNowAndThen(context, 'read')
  const metricSaid = given.metric !== undefined || given.columns?.['metric'] !== undefined
  const metric =
    metricSaid || objective === null
      ? {}
      : { metric: { ...objective, ...(flags.direction ? { direction: flags.direction } : {}) } }
  const options = { ...given, ...metric, ...(token === undefined ? {} : { token }), signal: context.cancel, progress }
  const isExpected = isOwnLog || given.columns?.['metric'] !== undefined
  const mine = flags.as === undefined ? opened : null
  const read = await asInput(readForFolder(source, options, flags.format, mine, isExpected))
  const readings = await ledger.readings()
  const histories: PreparedHistory[] = []
  for (const each of read.histories) {
    const target = each === read.here ? opened : null
    const named = flags.as === undefined ? each : { ...each, source: flags.as }
    const ruled = target === null ? named : withConstraints(named, target.family.constraints)
    // Of a source without a row that can be used nothing is stored, not even its name: nobody need be asked.
    const isUnasked = dryRun || ruled.rows.length === 0
    const told = flags.direction ?? ruled.metrics[0].direction
    const asked = told === null && !isUnasked ? await askDirection(ruled, context) : null
    const direction = told ?? asked
    const directed = withDirection(ruled, direction, flags.direction !== undefined)
    const { history, missing } = await withCode(directed, source, target, ledger.path)
    const family =
      target?.family ?? (await importedFamily(ledger, history, direction ?? 'minimize', history.constraints))
    const flagsNow = asked === null ? said : { ...said, direction: asked }
    const known = await readingsWith(history.rows, readings, ledger)
    const compared = {
      familyId: familyId(family),
      place: adds ? null : place,
      rows: history.rows,
      flags: flagsNow,
      known,
    }
    const earlier = earlierReadings(readings, compared)
    histories.push({
      history,
      family,
      opened: target,
      flags: flagsNow,
      missing,
      earlier,
      source: sourceName(source, each.source, ledgerPath(context, opened)),
      metricSaid,
    })
  }
  return { format: read.importer.title, histories }
}

const lookedUp = 24

/** Those that brought most of some rows that are looked up, in whichever environment: also of a log that has grown since, or a part of it. */
async function readingsWith(
  rows: readonly ImportedRow[],
  readings: readonly StoredReading[],
  ledger: Ledger,
): Promise<ReadonlySet<number>> {
  const some = rows.filter(
    (_, index) => Math.floor((index * lookedUp) / rows.length) !== Math.floor(((index - 1) * lookedUp) / rows.length),
  )
  const found = new Set<number>()
  for (const id of new Set(readings.map(({ familyId }) => familyId))) {
    const known = [...(await ledger.importedRowsOf([...keysOf(id, some)])).values()]
    const kept = new Set(known.map(row => ('reason' in row ? null : row.place)))
    if (kept.size * 2 > some.length) for (const { readingId } of known) if (readingId !== null) found.add(readingId)
  }
  return found
}

/** Two logs of one name are told apart by where they lie, as far as that is in the folder of the ledger: what lies above may say who one is. */
function sourceName(source: Source, name: string, ledgerFile: string): string {
  if (source.kind === 'address') return name
  const folder = dirname(resolve(ledgerFile))
  const path = relative(basename(folder) === '.almanac' ? dirname(folder) : folder, source.path)
  return path === '' || path.startsWith('..') || isAbsolute(path) ? name : path.replaceAll(sep, '/')
}

function withDirection(history: ImportedHistory, direction: Direction | null, isGiven: boolean): ImportedHistory {
  const [objective, ...others] = history.metrics
  const isSaid = objective.direction !== direction || isGiven
  return { ...history, metrics: [{ ...objective, direction, guessed: objective.guessed && !isSaid }, ...others] }
}

async function askDirection(history: ImportedHistory, context: Context): Promise<Direction> {
  const { name } = history.metrics[0]
  const answer = await context.ask?.({
    text: `Is ${name} (${importedName(history)}) better when it is lower or when it is higher?`,
    choices: ['lower', 'higher'],
  })
  if (answer === 'lower') return 'minimize'
  if (answer === 'higher') return 'maximize'
  throw new InputError(
    `Nothing tells whether ${name} of ${importedName(history)} is better when it is lower or higher; say --direction minimize or --direction maximize.`,
  )
}
