/**
 * The records of one environment, from a file in Almanac's exchange format: values only, no ledger.
 */
import type { Environment } from '../../src/experiment/environment.ts'
import type { Run } from '../../src/experiment/intervention.ts'
import type { ExperimentRecord } from '../../src/experiment/record.ts'
import { buildRecords, evidenceOf } from '../../src/experiment/records.ts'
import { readRecords } from '../../src/importers/records-jsonl.ts'

export interface EnvironmentRecords {
  /** The family's name. */
  readonly name: string
  readonly environment: Environment
  /** Every intervention with evidence, failures too, in the order in which they were written down. */
  readonly records: readonly ExperimentRecord[]
  /** The runs of the reference that count. */
  readonly reference: readonly Run[]
}

/** Ids count up from `firstId`, so that files can be put together. Throws unless the file has one reference and something tried. */
export function environmentRecords(text: string, source: string, firstId: number): EnvironmentRecords {
  const { family, familyId, versions, lines } = readRecords(text, source)
  const tried = new Set(lines.filter(({ kind }) => kind === 'candidate').map(({ version }) => version))
  const [version, ...more] = versions.filter(({ id }) => tried.has(id))
  if (version === undefined || more.length > 0) {
    throw new Error(
      `${source} has interventions on ${tried.size} references; this evaluation needs all gains to be against one`,
    )
  }
  const { id: versionId, reference } = version
  const environment: Environment = { family, familyId, version: { id: versionId, familyId, reference, parent: null } }
  const rows = lines
    .filter(line => line.version === versionId)
    .map(({ kind, sentence, overrides, diff, tags, origin, runs }, index) => {
      const id = firstId + index
      const counted = runs.map((run, position) => ({ id: 1000 * id + position, versionId, interventionId: id, ...run }))
      return { id, versionId, kind, intervention: { sentence, overrides, diff, tags, origin }, runs: counted }
    })
  const records = buildRecords(new Map([[versionId, environment]]), rows).filter(({ outcome }) => outcome !== null)
  const referenceRuns = rows.flatMap(({ kind, runs }) => (kind === 'reference' ? evidenceOf(runs) : []))
  return { name: family.name, environment, records, reference: referenceRuns }
}

/** When the last of the runs ended, as a date; null where no run says. */
export function measuredUntil(environments: readonly EnvironmentRecords[]): string | null {
  const moments = environments.flatMap(({ records, reference }) =>
    [...reference, ...records.flatMap(({ runs }) => runs)].flatMap(({ outcome }) => outcome?.finishedAt ?? []),
  )
  return moments.sort().at(-1)?.slice(0, 10) ?? null
}
