/**
 * Records: the view from rows to what forecasts, tables and reports read. A handful of queries whatever the number of
 * runs; the arithmetic is in `experiment/records.ts`.
 */
import type { Environment, Family } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { buildRecords, type InterventionWithRuns } from '../experiment/records.ts'
import { amongst } from './amongst.ts'
import { versionOf } from './environments.ts'
import { interventionOf } from './interventions.ts'
import { runRows, type StoredRun, storedRun } from './runs.ts'
import type { Database } from './tables.ts'
import { isLiveIntervention } from './withdrawn.ts'

export interface RecordFilter {
  readonly familyIds?: readonly string[]
  readonly versionIds?: readonly string[]
  /** Also interventions that were written down and never run. Default false. */
  readonly withoutRuns?: boolean
}

/**
 * Rows fetched at a time: a hundred thousand wide rows at once would be promoted to the old heap before they are read.
 */
const pageSize = 5000

/** The records (references left out) in order of creation. */
export async function recordsOf(db: Database, filter: RecordFilter = {}): Promise<ExperimentRecord[]> {
  return (await recordsAndReferencesOf(db, filter)).records
}

/** The same with the references that they were measured against, for whoever asks what was known at an earlier time. */
export async function recordsAndReferencesOf(
  db: Database,
  filter: RecordFilter = {},
): Promise<{ readonly records: ExperimentRecord[]; readonly references: InterventionWithRuns[] }> {
  const environments = await environmentsOf(db, filter)
  const versionIds = filter.familyIds || filter.versionIds ? [...environments.keys()] : null
  const rows = new Map<number, InterventionWithRuns & { readonly runs: StoredRun[] }>()
  for (const row of await interventionRows(db, versionIds).execute()) {
    const { id, version_id: versionId, kind } = row
    rows.set(id, { id, versionId, kind, intervention: interventionOf(row), runs: [] })
  }
  for (let last = 0; ; ) {
    const page = await runPage(db, versionIds, last).execute()
    for (const row of page) {
      last = row.id
      // Unknown is what another process wrote down since the first query: the next listing has it.
      const intervention = rows.get(row.intervention_id)
      intervention?.runs.push(storedRun(row, intervention.versionId))
    }
    if (page.length < pageSize) break
  }
  const shown = filter.withoutRuns ? [...rows.values()] : [...rows.values()].filter(({ runs }) => runs.length > 0)
  return { records: buildRecords(environments, shown), references: shown.filter(({ kind }) => kind === 'reference') }
}

function interventionRows(db: Database, versionIds: readonly string[] | null) {
  const query = db
    .selectFrom('interventions')
    .select(['id', 'version_id', 'kind', 'sentence', 'overrides', 'diff', 'tags', 'origin'])
    .where(isLiveIntervention)
    .orderBy('id')
  return versionIds === null ? query : query.where('version_id', 'in', amongst(versionIds))
}

function runPage(db: Database, versionIds: readonly string[] | null, after: number) {
  const query = runRows(db).where('runs.id', '>', after).orderBy('runs.id').limit(pageSize)
  if (versionIds === null) return query
  const inVersions = db
    .selectFrom('interventions')
    .select('interventions.id')
    .where('version_id', 'in', amongst(versionIds))
  return query.where('runs.intervention_id', 'in', inVersions)
}

async function environmentsOf(db: Database, filter: RecordFilter): Promise<Map<string, Environment>> {
  let query = db
    .selectFrom('versions')
    .innerJoin('families', 'families.id', 'versions.family_id')
    .selectAll('versions')
    .select('families.definition')
  if (filter.familyIds) query = query.where('versions.family_id', 'in', amongst(filter.familyIds))
  if (filter.versionIds) query = query.where('versions.id', 'in', amongst(filter.versionIds))
  const families = new Map<string, Family>()
  const environments = new Map<string, Environment>()
  for (const row of await query.execute()) {
    let family = families.get(row.family_id)
    if (!family) {
      family = JSON.parse(row.definition) as Family
      families.set(row.family_id, family)
    }
    const version = versionOf(row)
    environments.set(version.id, { family, familyId: row.family_id, version })
  }
  return environments
}
