/**
 * What withdrawn readings brought, as conditions of queries: those that leave it out. All are asked row by row, by index: a list of
 * everything that was withdrawn may be a million long.
 */
import { type SqlBool, sql } from 'kysely'

/** Of a query with the table `runs`. */
export const isLiveRun = sql<SqlBool>`not exists (select 1 from withdrawn_runs where run_id = runs.id)`

/** Of a query with the table `interventions`: not a candidate that withdrawn readings alone brought, which has given up its hash. */
export const isLiveIntervention = sql<SqlBool>`interventions.hash not like 'withdrawn %'`

/** Of a query with the table `families`: one into which something was imported counts as long as it has a run, or a command to make one. */
export const isLiveFamily = sql<SqlBool>`(
  families.definition ->> 'command' is not null
  or not exists (select 1 from readings where family_id = families.id)
  or exists (
    select 1 from versions
      join interventions on interventions.version_id = versions.id
      join runs on runs.intervention_id = interventions.id
    where versions.family_id = families.id and ${isLiveRun}
  )
)`
