/**
 * How each source was read, so that it is read so again, and the withdrawal of a reading that was wrong: its runs stay in the file, as all
 * that was ever observed or referred to does, and are left out of every list. Its rows give up their keys, and candidates that nothing
 * else speaks of their hashes, so that they can come again, in their order; and what a version came from may be put right.
 */
import { type Kysely, sql } from 'kysely'

const isFinal = (table: string) => `raise(abort, 'rows of ${table} are final: they are never changed or deleted')`

const statements = [
  `create table readings (
    id integer primary key,
    family_id text not null references families (id),
    place text not null,
    source text not null,
    definition text not null,
    read_at text not null,
    withdrawn_at text
  ) strict`,
  'create index readings_place on readings (place)',
  `create trigger readings_no_update before update on readings
    when old.withdrawn_at is not null or new.withdrawn_at is null or new.id <> old.id or new.family_id <> old.family_id
      or new.place <> old.place or new.source <> old.source or new.definition <> old.definition or new.read_at <> old.read_at
    begin select ${isFinal('readings')}; end`,
  'create table withdrawn_runs (run_id integer primary key references runs (id)) strict',
  `create trigger withdrawn_runs_no_update before update on withdrawn_runs begin select ${isFinal('withdrawn_runs')}; end`,
  'alter table imports add column reading_id integer references readings (id)',
  'alter table imports add column meaning text',
  'create index imports_reading on imports (reading_id) where reading_id is not null',
  'drop trigger imports_no_update',
  // What was imported before readings were noted is one of each family: of what it was said is not known, nor where it was.
  `insert into readings (family_id, place, source, definition, read_at)
    select versions.family_id, '', families.name, 'null', min(imports.imported_at)
    from imports join versions on versions.id = imports.version_id join families on families.id = versions.family_id
    group by versions.family_id`,
  `update imports set reading_id = (
    select readings.id from readings join versions on versions.family_id = readings.family_id
    where versions.id = imports.version_id
  ) where version_id is not null`,
  `create trigger imports_no_update before update on imports
    when new.source_key <> 'withdrawn ' || old.reading_id || ' ' || old.source_key or old.reading_id is null
      or not exists (select 1 from readings where id = old.reading_id and withdrawn_at is not null)
      or new.version_id is not old.version_id or new.intervention_id is not old.intervention_id or new.run_id is not old.run_id
      or new.line is not old.line or new.place is not old.place or new.text is not old.text or new.reason is not old.reason
      or new.imported_at is not old.imported_at or new.reading_id is not old.reading_id or new.meaning is not old.meaning
    begin select ${isFinal('imports')}; end`,
  'drop trigger interventions_no_update',
  `create trigger interventions_no_update before update on interventions
    when new.hash <> 'withdrawn ' || old.id || ' ' || old.hash or old.kind = 'reference' or new.kind <> old.kind
      or new.id <> old.id or new.version_id <> old.version_id or new.created_at <> old.created_at
      or new.sentence <> old.sentence or new.overrides is not old.overrides or new.diff is not old.diff
      or new.tags <> old.tags or new.origin is not old.origin
      or not exists (select 1 from runs where intervention_id = old.id)
      or exists (select 1 from runs where intervention_id = old.id and id not in (select run_id from withdrawn_runs))
      or exists (select 1 from forecasts where intervention_id = old.id)
      or exists (select 1 from failed_forecasts where intervention_id = old.id)
      or exists (select 1 from choices where intervention_id = old.id)
    begin select ${isFinal('interventions')}; end`,
  'drop trigger versions_no_update',
  `create trigger versions_no_update before update on versions
    when new.id <> old.id or new.family_id <> old.family_id or new.created_at <> old.created_at
      or (
        exists (
          select 1 from interventions join runs on runs.intervention_id = interventions.id
          where interventions.version_id = old.id and runs.id not in (select run_id from withdrawn_runs)
        )
        and (
          new.reference <> old.reference
          or not exists (select 1 from interventions where id = old.parent_intervention_id and hash like 'withdrawn %')
        )
      )
    begin select ${isFinal('versions')}; end`,
  ...['readings', 'withdrawn_runs'].map(
    table => `create trigger ${table}_no_delete before delete on ${table} begin select ${isFinal(table)}; end`,
  ),
  `create trigger readings_first_stays before insert on readings
    when exists (select 1 from readings where id = new.id) begin select raise(ignore); end`,
  `create trigger withdrawn_runs_first_stays before insert on withdrawn_runs
    when exists (select 1 from withdrawn_runs where run_id = new.run_id) begin select raise(ignore); end`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
