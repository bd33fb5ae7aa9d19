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
 * place. A reference that moves by itself (`HEAD`) only says where to begin: once something was measured against it,
 * committing does not change what gains are measured against, promoting does. One that never finished a run is left for
 * the commit that mends it.
 */
export async function currentEnvironment(opened: OpenEnvironment, ledger: Ledger): Promise<Environment> {
  const family = await ledger.ensureFamily(opened.family)
  const current = await ledger.currentVersion(family)
  if (current !== null && (await canRun(current.version, opened))) {
    const configured = versionId(family, opened.configuredReference)
    const ancestors = await ledger.lineage(current.version.id)
    const stays = opened.referenceMoves && (await isInUse(current.version, ledger))
    if (stays || ancestors.some(({ id }) => id === configured)) {
      return { family: opened.family, familyId: family, version: current.version }
    }
  }
  const version = await ledger.ensureVersion(family, opened.configuredReference, null)
  await ledger.setCurrentVersion(family, version.id, 'configured')
  return { family: opened.family, familyId: familyId(opened.family), version }
}

/** An imported version may be known by its label alone, or by a commit that git does not have: nothing can run against it. */
async function canRun({ reference }: Version, { repository }: OpenEnvironment): Promise<boolean> {
  if (reference.commit !== null)
    return repository !== null && (await repository.resolveCommit(reference.commit)) !== null
  return reference.configuration !== null || reference.code !== null
}

async function isInUse(version: Version, ledger: Ledger): Promise<boolean> {
  if (version.parent !== null) return true
  const runs = await ledger.runsOf(await ledger.ensureReference(version.id))
  return runs.some(({ outcome }) => outcome === null || outcome.kind === 'finished')
}
