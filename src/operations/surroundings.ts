/**
 * What most operations begin with: the environment of the folder, its ledger, and the version that is current. Or any environment of the
 * ledger by its name, also where there is no environment file: histories that were imported are such.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Surroundings } from '../campaign/campaign.ts'
import { currentEnvironment } from '../campaign/current-environment.ts'
import type { EnvironmentFile } from '../campaign/environment-file.ts'
import { findEnvironmentFile, type OpenEnvironment, openEnvironment } from '../campaign/open-environment.ts'
import { type Environment, familyId } from '../experiment/environment.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import type { Waiting } from '../ledger/waiting.ts'
import { singleLine } from '../report/outside-text.ts'
import { type Context, InputError, Stopped } from './operation.ts'

export interface Place extends Surroundings, KnownPlace {
  readonly opened: OpenEnvironment
  readonly ledger: Ledger
}

/** `openLedgerToRead` for an operation that only looks. */
type Open = typeof openLedger

/** Opens what the operation needs, and closes the ledger whatever happens. */
export async function inPlace<T>(
  whole: Context,
  action: (place: Place) => Promise<T>,
  open: Open = openLedger,
): Promise<T> {
  const { context, waiting } = withWaits(whole)
  const opened = await asInput(openEnvironment(context.directory))
  await using ledger = await open(ledgerPath(context, opened), waiting)
  const environment = await environmentOf(opened, ledger, context)
  const { stop, cancel, variables } = context
  const place = { opened, file: opened.file, ledger, environment, stop, cancel, variables }
  // Awaited here: the ledger closes when this function is left.
  return await action({ ...place, emit: event => context.emit(event) })
}

/**
 * How the operation waits for other processes' writes: told as a note, and ended when the user stops it while none of its runs goes on.
 * What runs is still to be written down; the third Ctrl-C gives that up.
 */
export function withWaits(context: Context): { readonly context: Context; readonly waiting: Waiting } {
  let running = 0
  const ended = new AbortController()
  const endWhereNothingRuns = () => {
    if (context.stop.aborted && running === 0) {
      ended.abort(new Stopped('It was stopped while it waited for another process that writes the ledger.'))
    }
  }
  context.stop.addEventListener('abort', endWhereNothingRuns)
  const emit: Context['emit'] = event => {
    if (event.type === 'run-started') running++
    if (event.type === 'run-ended') running--
    endWhereNothingRuns()
    context.emit(event)
  }
  const tell = (text: string) => context.emit({ type: 'note', text })
  return { context: { ...context, emit }, waiting: { signal: ended.signal, tell } }
}

/** An environment as the ledger knows it: of the folder, or one that was imported. */
export interface KnownPlace {
  readonly ledger: Ledger
  readonly environment: Environment
  /** What the folder says of it; null where it is not the folder's: nothing can be run in it. */
  readonly opened: OpenEnvironment | null
  /** The environment file of the folder, whichever environment this is; null where there is none. */
  readonly file: EnvironmentFile | null
}

/**
 * The ledger, and in it the environment of that name; without a name the one of the folder, or where there is no environment file the
 * only one of the ledger. Nothing can be run in what is known from the ledger alone.
 */
export async function inLedger<T>(
  context: Context,
  name: string | undefined,
  action: (place: KnownPlace) => Promise<T>,
  open: Open = openLedger,
): Promise<T> {
  const inIt = async ({ ledger, here, opened }: WholeLedger) => {
    const environment = name === undefined ? (here ?? (await onlyOne(ledger))) : await environmentNamed(ledger, name)
    const isHere = here !== null && here.familyId === environment.familyId
    return action({ ledger, environment, opened: isHere ? opened : null, file: opened?.file ?? null })
  }
  return inWholeLedger(context, inIt, open)
}

export interface WholeLedger {
  readonly ledger: Ledger
  readonly here: Environment | null
  readonly opened: OpenEnvironment | null
}

/** The ledger of the folder, and the environment of the folder where it has an environment file. */
export async function inWholeLedger<T>(
  context: Context,
  action: (place: WholeLedger) => Promise<T>,
  open: Open = openLedger,
): Promise<T> {
  const opened = await environmentHere(context)
  const path = ledgerPath(context, opened)
  // Without a file to begin with there would be nothing in it: say what is missing, and make none.
  if (opened === null) requireLedger(path)
  await using ledger = await open(path, withWaits(context).waiting)
  const here = opened === null ? null : await environmentOf(opened, ledger, context)
  return await action({ ledger, here, opened })
}

/** The folder's, current as its files are now; that this makes another reference of it is told once. */
async function environmentOf(opened: OpenEnvironment, ledger: Ledger, { emit }: Context): Promise<Environment> {
  const before = await ledger.currentVersion(familyId(opened.family))
  const environment = await currentEnvironment(opened, ledger)
  if (before !== null && before.why !== 'imported' && before.version.id !== environment.version.id) {
    const promoted = before.version.parent === null ? '' : ' What was promoted is no part of it any more.'
    emit({
      type: 'note',
      text: `The reference has changed with its files or the environment file: from now on gains are against the new one.${promoted}`,
    })
  }
  return environment
}

/** Throws where there is no such file, with the ways to begin. */
export function requireLedger(path: string): void {
  if (existsSync(path)) return
  throw new InputError(
    `There is no ledger ${path} yet: import a history ("almanac import results.tsv"), or run something first ("almanac init", then "almanac run"); --directory and --ledger name another place.`,
  )
}

/** Beside the environment file, or where there is none in the folder where the user stands. */
export function ledgerPath(context: Context, opened: OpenEnvironment | null): string {
  return context.ledger ?? join(opened?.directory ?? context.directory, '.almanac', 'ledger.db')
}

/** The environment file of the folder or one above it; null where there is none. One that is wrong is an error. */
export async function environmentHere(context: Context): Promise<OpenEnvironment | null> {
  if (existsSync(context.directory)) {
    try {
      findEnvironmentFile(context.directory)
    } catch {
      return null
    }
  }
  return asInput(openEnvironment(context.directory))
}

/**
 * The environment of that name at its current version: its whole name, or what stands behind the source in the name of an imported one
 * (`sweep` for `mlflow.db/sweep`). Of several with one name the newest. Throws a sentence with the names there are.
 */
export async function environmentNamed(ledger: Ledger, name: string): Promise<Environment> {
  const families = await ledger.families()
  const exact = families.filter(({ family }) => family.name === name)
  const short = families.filter(({ family }) => family.name.endsWith(`/${name}`) || family.name.startsWith(`${name}/`))
  const names = new Set(short.map(({ family }) => family.name))
  if (exact.length === 0 && names.size > 1) {
    throw new InputError(
      `Several environments are called ${name}: ${[...names].map(singleLine).join(', ')}; give the whole name.`,
    )
  }
  const candidates = (exact.length > 0 ? exact : short).toReversed()
  for (const { id, family } of candidates) {
    const current = await ledger.currentVersion(id)
    if (current !== null) return { family, familyId: id, version: current.version }
    // What came without a reference that anything can be measured against has none that is current.
    const last = (await ledger.recordsOf({ familyIds: [id] })).at(-1)
    if (last !== undefined) return last.environment
  }
  throw new InputError(`The ledger has no environment "${name}"${await namesText(ledger)}.`)
}

async function onlyOne(ledger: Ledger): Promise<Environment> {
  const names = [...new Set((await ledger.families()).map(({ family }) => family.name))]
  if (names.length === 1) return environmentNamed(ledger, names[0]!)
  if (names.length === 0) throw new InputError('The ledger has no environment yet: almanac import results.tsv')
  throw new InputError(`Say which environment is meant, with --environment NAME${await namesText(ledger)}.`)
}

async function namesText(ledger: Ledger): Promise<string> {
  const names = [...new Set((await ledger.families()).map(({ family }) => family.name))]
  return names.length === 0 ? '; it has none' : `; it has ${names.map(singleLine).join(', ')}`
}

/** What goes wrong here is for the user to correct. */
export async function asInput<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    throw new InputError((cause as Error).message, { cause })
  }
}
