/**
 * Records: the view from rows to what forecasts, tables and reports read. A handful of queries whatever the number of
 * runs; the arithmetic is in `experiment/records.ts`.
 */
import type { Environment, Family } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { buildRecords, type InterventionWithRuns } from '../experiment/records.ts'
import { versionOf } from './environments.ts'
import { interventionOf } from './interventions.ts'
import { joined, type StoredRun, storedRun } from './runs.ts'
import type { Database } from './tables.ts'

export interface RecordFilter {
  readonly familyIds?: readonly string[]
  readonly versionIds?: readonly string[]
  /** Also interventions that were written down and never run. Default false. */
  readonly withoutRuns?: boolean
}

/** The records (references left out) in order of creation. */
export async function recordsOf(db: Database, filter: RecordFilter = {}): Promise<ExperimentRecord[]> {
  const environments = await environmentsOf(db, filter)
  const chosen = new Set(environments.keys())
  const everything = filter.familyIds === undefined && filter.versionIds === undefined
  const versionIds = [...chosen]

  let interventions = db.selectFrom('interventions').selectAll().orderBy('id')
  if (!everything) interventions = interventions.where('version_id', 'in', versionIds)
  let runs = joined(db).orderBy('runs.id')
  if (!everything) runs = runs.where('interventions.version_id', 'in', versionIds)

  const runsByIntervention = new Map<number, StoredRun[]>()
  for (const row of await runs.execute()) {
    const run = storedRun(row)
    const others = runsByIntervention.get(run.interventionId)
    if (others) others.push(run)
    else runsByIntervention.set(run.interventionId, [run])
  }
  const rows: InterventionWithRuns[] = []
  for (const row of await interventions.execute()) {
    const runs = runsByIntervention.get(row.id) ?? []
    if (runs.length === 0 && !filter.withoutRuns) continue
    rows.push({ id: row.id, versionId: row.version_id, kind: row.kind, intervention: interventionOf(row), runs })
  }
  return buildRecords(environments, rows)
}

async function environmentsOf(db: Database, filter: RecordFilter): Promise<Map<string, Environment>> {
  let query = db
    .selectFrom('versions')
    .innerJoin('families', 'families.id', 'versions.family_id')
    .selectAll('versions')
    .select('families.definition')
  if (filter.familyIds) query = query.where('versions.family_id', 'in', [...filter.familyIds])
  if (filter.versionIds) query = query.where('versions.id', 'in', [...filter.versionIds])
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
