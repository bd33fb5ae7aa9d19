/**
 * A family's records as text, to keep beside a program or to give away. The same ledger always gives the same text, and so
 * does the ledger that it is stored in.
 */
import type { Version } from '../experiment/environment.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { RecordLine, RecordsHeader } from './records-format.ts'

export interface RecordsChoice {
  /**
   * Only these versions. Without it: every version on which something was tried, the current one, and their ancestors.
   */
  readonly versionIds?: readonly string[]
}

/** Runs that have not ended are left out: nobody else could adopt them. Throws for a family or version the ledger does not have. */
export async function writeRecords(ledger: Ledger, familyId: string, choice: RecordsChoice = {}): Promise<string> {
  const family = await ledger.family(familyId)
  if (family === null) throw new Error(`writeRecords: the ledger has no family ${familyId}`)
  const versions = choice.versionIds
    ? await Promise.all(choice.versionIds.map(id => versionOf(ledger, id)))
    : await versionsOf(ledger, familyId)
  // One after the other: thousands of questions at once would wait for each other in turn.
  const ofVersions = []
  for (const { id } of versions) ofVersions.push(await ledger.interventionsOf(id))
  const stored = ofVersions.flat()
  stored.sort((a, b) => a.id - b.id)
  const hashes = new Map(stored.map(({ id, hash }) => [id, hash]))
  const positions = new Map<string, number>()
  for (const { id, versionId } of stored) if (!positions.has(versionId)) positions.set(versionId, id)
  versions.sort((a, b) => positions.get(a.id)! - positions.get(b.id)!)
  const header: RecordsHeader = {
    format: 'almanac-records',
    version: 1,
    family: {
      ...family,
      metrics: [...family.metrics],
      constraints: [...family.constraints],
      data: [...family.data],
    } as RecordsHeader['family'],
    versions: versions.map(({ id, reference, parent }) => {
      // What was promoted can be named only when its version is in the file as well.
      const hash = parent === null ? undefined : hashes.get(parent.interventionId)
      return { id, reference, parent: hash === undefined ? null : { version: parent!.versionId, hash } }
    }),
  }
  const lines = [JSON.stringify(header)]
  for (const { id, versionId, kind, hash, intervention } of stored) {
    const ended = (await ledger.runsOf(id)).filter(run => run.outcome !== null)
    const runs = ended.map(({ seed, attempt, outcome }) => ({ seed, attempt, outcome: outcome! }))
    const { sentence, overrides, diff, tags, origin } = intervention
    const line: RecordLine = {
      version: versionId,
      kind,
      hash,
      sentence,
      overrides,
      diff,
      tags: [...tags],
      origin,
      runs,
    }
    lines.push(JSON.stringify(line))
  }
  return `${lines.join('\n')}\n`
}

async function versionOf(ledger: Ledger, id: string): Promise<Version> {
  const version = await ledger.version(id)
  if (version === null) throw new Error(`writeRecords: the ledger has no version ${id}`)
  return version
}

async function versionsOf(ledger: Ledger, familyId: string): Promise<Version[]> {
  const records = await ledger.recordsOf({ familyIds: [familyId], withoutRuns: true })
  const current = await ledger.currentVersion(familyId)
  const ids = new Set(records.map(({ environment }) => environment.version.id))
  if (current) ids.add(current.version.id)
  const found = new Map<string, Version>()
  for (const id of ids) {
    for (let next: string | undefined = id; next !== undefined && !found.has(next); ) {
      const version: Version = await versionOf(ledger, next)
      found.set(next, version)
      next = version.parent?.versionId
    }
  }
  return [...found.values()]
}
