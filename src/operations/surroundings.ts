/** What most operations begin with: the environment of the folder, its ledger, and the version that is current. */
import { join } from 'node:path'
import type { Surroundings } from '../campaign/campaign.ts'
import { currentEnvironment } from '../campaign/current-environment.ts'
import { type OpenEnvironment, openEnvironment } from '../campaign/open-environment.ts'
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
  await using ledger = await openLedger(context.ledger ?? join(opened.directory, '.almanac', 'ledger.db'))
  const environment = await currentEnvironment(opened, ledger)
  const { stop, cancel, variables } = context
  // Awaited here: the ledger closes when this function is left.
  return await action({ opened, ledger, environment, stop, cancel, variables, emit: event => context.emit(event) })
}

/** What goes wrong here is for the user to correct. */
export async function asInput<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    throw new InputError((cause as Error).message, { cause })
  }
}
