/**
 * Which version of an environment is current: what the ledger knows, unless the environment file names a new reference.
 */
import { type Environment, familyId, type Version, versionId } from '../experiment/environment.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { OpenEnvironment } from './open-environment.ts'

/**
 * The environment at its current version, stored in the ledger if it is new.
 *
 * A configured reference stays where the user put it until they change the file; versions promoted from it take its
 * place. A reference that moves by itself (`HEAD`) only says where to begin: committing does not change what gains are
 * measured against, promoting does.
 */
export async function currentEnvironment(opened: OpenEnvironment, ledger: Ledger): Promise<Environment> {
  const family = await ledger.ensureFamily(opened.family)
  const current = await ledger.currentVersion(family)
  if (current !== null && canRun(current.version)) {
    const configured = versionId(family, opened.configuredReference)
    const ancestors = await ledger.lineage(current.version.id)
    if (opened.referenceMoves || ancestors.some(({ id }) => id === configured)) {
      return { family: opened.family, familyId: family, version: current.version }
    }
  }
  const version = await ledger.ensureVersion(family, opened.configuredReference, null)
  await ledger.setCurrentVersion(family, version.id, 'configured')
  return { family: opened.family, familyId: familyId(opened.family), version }
}

/** An imported version may be known by its label alone: then nothing can be run against it. */
function canRun({ reference }: Version): boolean {
  return reference.commit !== null || reference.configuration !== null || reference.code !== null
}
