/**
 * What most operations begin with: the environment of the folder, its ledger, and the version that is current. Or any environment of the
 * ledger by its name, also where there is no environment file: histories that were imported are such.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Surroundings } from '../campaign/campaign.ts'
import { currentEnvironment } from '../campaign/current-environment.ts'
import { findEnvironmentFile, type OpenEnvironment, openEnvironment } from '../campaign/open-environment.ts'
import type { Environment } from '../experiment/environment.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { type Context, InputError } from './operation.ts'

export interface Place extends Surroundings {
  readonly opened: OpenEnvironment
  readonly ledger: Ledger
  readonly environment: Environment
}

/** Opens what the operation needs, and closes the ledger whatever happens. */
export async function inPlace<T>(context: Context, action: (place: Place) => Promise<T>): Promise<T> {
  const opened = await asInput(openEnvironment(context.directory))
  await using ledger = await openLedger(ledgerPath(context, opened))
  const environment = await currentEnvironment(opened, ledger)
  const { stop, cancel, variables } = context
  // Awaited here: the ledger closes when this function is left.
  return await action({ opened, ledger, environment, stop, cancel, variables, emit: event => context.emit(event) })
}

/**
 * The ledger, and in it the environment of that name; without a name the one of the folder, or where there is no environment file the
 * only one of the ledger. Nothing can be run in what is known from the ledger alone.
 */
export async function inLedger<T>(
  context: Context,
  name: string | undefined,
  action: (place: { readonly ledger: Ledger; readonly environment: Environment }) => Promise<T>,
): Promise<T> {
  return inWholeLedger(context, async ({ ledger, here }) => {
    const environment = name === undefined ? (here ?? (await onlyOne(ledger))) : await environmentNamed(ledger, name)
    return action({ ledger, environment })
  })
}

/** The ledger of the folder, and the environment of the folder where it has an environment file. */
export async function inWholeLedger<T>(
  context: Context,
  action: (place: { readonly ledger: Ledger; readonly here: Environment | null }) => Promise<T>,
): Promise<T> {
  const opened = await environmentHere(context)
  const path = ledgerPath(context, opened)
  // Without a file to begin with there would be nothing in it: say what is missing, and make none.
  if (opened === null && !existsSync(path)) await asInput(openEnvironment(context.directory))
  await using ledger = await openLedger(path)
  const here = opened === null ? null : await currentEnvironment(opened, ledger)
  return await action({ ledger, here })
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
    throw new InputError(`Several environments are called ${name}: ${[...names].join(', ')}; give the whole name.`)
  }
  const candidates = (exact.length > 0 ? exact : short).toReversed()
  for (const { id, family } of candidates) {
    const current = await ledger.currentVersion(id)
    if (current !== null) return { family, familyId: id, version: current.version }
  }
  throw new InputError(`The ledger has no environment "${name}"${await namesText(ledger)}.`)
}

async function onlyOne(ledger: Ledger): Promise<Environment> {
  const names = [...new Set((await ledger.families()).map(({ family }) => family.name))]
  if (names.length === 1) return environmentNamed(ledger, names[0]!)
  throw new InputError(`Say which environment is meant, with --environment NAME${await namesText(ledger)}.`)
}

async function namesText(ledger: Ledger): Promise<string> {
  const names = [...new Set((await ledger.families()).map(({ family }) => family.name))]
  return names.length === 0 ? '; it has none' : `; it has ${names.join(', ')}`
}

/** What goes wrong here is for the user to correct. */
export async function asInput<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    throw new InputError((cause as Error).message, { cause })
  }
}
