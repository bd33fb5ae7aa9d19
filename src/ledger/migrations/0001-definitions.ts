/**
 * The first schema: the design's definitions as tables. What was observed or promised is never edited, and triggers keep
 * that promise whoever holds the file: no update, no delete, and `insert or replace` leaves the first row in place.
 * Not here: queued or running (derived from runs without outcome), records and gains (computed).
 */
import { type Kysely, sql } from 'kysely'

const tables = [
  `create table families (
    id text primary key, name text not null, definition text not null, created_at text not null
  ) strict`,
  `create index families_name on families (name)`,

  `create table versions (
    id text primary key,
    family_id text not null references families (id),
    reference text not null,
    parent_version_id text references versions (id),
    parent_intervention_id integer references interventions (id),
    created_at text not null,
    check ((parent_version_id is null) = (parent_intervention_id is null))
  ) strict`,
  `create index versions_family on versions (family_id)`,

  `create table current_versions (
    id integer primary key,
    family_id text not null references families (id),
    version_id text not null references versions (id),
    why text not null check (why in ('configured', 'promoted', 'imported')),
    set_at text not null
  ) strict`,
  `create index current_versions_family on current_versions (family_id)`,

  `create table interventions (
    id integer primary key,
    version_id text not null references versions (id),
    hash text not null,
    kind text not null check (kind in ('reference', 'candidate')),
    sentence text not null,
    overrides text,
    diff text,
    tags text not null,
    origin text,
    created_at text not null,
    unique (version_id, hash)
  ) strict`,
  `create unique index interventions_reference on interventions (version_id) where kind = 'reference'`,

  `create table campaigns (
    id integer primary key,
    family_id text not null references families (id),
    version_id text not null references versions (id),
    definition text not null,
    created_at text not null
  ) strict`,
  `create table campaign_events (
    id integer primary key,
    campaign_id integer not null references campaigns (id),
    state text not null check (state in ('started', 'resumed', 'stopped', 'finished')),
    detail text,
    claimant_pid integer,
    claimant_started text,
    happened_at text not null
  ) strict`,
  `create index campaign_events_campaign on campaign_events (campaign_id)`,

  // An intervention belongs to one version, so (version, intervention, seed, attempt) is unique when this is.
  `create table runs (
    id integer primary key,
    intervention_id integer not null references interventions (id),
    seed integer not null,
    attempt integer not null check (attempt >= 0),
    campaign_id integer references campaigns (id),
    folder text,
    claimant_pid integer,
    claimant_started text,
    claimed_at text not null,
    unique (intervention_id, seed, attempt)
  ) strict`,
  `create index runs_campaign on runs (campaign_id) where campaign_id is not null`,

  `create table outcomes (
    run_id integer primary key references runs (id),
    kind text not null check (
      kind in ('finished', 'crashed', 'diverged', 'timed-out', 'violated', 'infrastructure', 'cancelled')
    ),
    reason text,
    metrics text not null,
    exit_code integer,
    started_at text,
    finished_at text,
    seconds real,
    cost real,
    written_at text not null
  ) strict`,

  `create table forecasts (
    id integer primary key,
    intervention_id integer not null references interventions (id),
    quantiles text not null,
    finishes real not null check (finishes between 0 and 1),
    forecaster text not null,
    forecaster_version text not null,
    record_ids text not null,
    campaign_id integer references campaigns (id),
    round integer,
    made_at text not null
  ) strict`,
  `create index forecasts_intervention on forecasts (intervention_id)`,

  `create table verdicts (
    id integer primary key,
    intervention_id integer not null references interventions (id),
    verdict text not null check (verdict in ('better', 'worse', 'inconclusive', 'failed')),
    measured text,
    run_ids text not null,
    supersedes integer unique references verdicts (id),
    given_at text not null
  ) strict`,
  `create index verdicts_intervention on verdicts (intervention_id)`,
  `create unique index verdicts_first on verdicts (intervention_id) where supersedes is null`,

  `create table rounds (
    campaign_id integer not null references campaigns (id),
    round integer not null,
    stored_at text not null,
    primary key (campaign_id, round)
  ) strict`,
  `create table choices (
    campaign_id integer not null,
    round integer not null,
    position integer not null,
    intervention_id integer not null references interventions (id),
    forecast_id integer references forecasts (id),
    probability real not null check (probability between 0 and 1),
    choice text not null check (choice in ('exploited', 'explored', 'passed-over')),
    primary key (campaign_id, round, intervention_id),
    foreign key (campaign_id, round) references rounds (campaign_id, round)
  ) strict`,
  `create table dropped_candidates (
    id integer primary key,
    campaign_id integer not null,
    round integer not null,
    intervention text not null,
    why text not null,
    foreign key (campaign_id, round) references rounds (campaign_id, round)
  ) strict`,
  `create index dropped_candidates_round on dropped_candidates (campaign_id, round)`,

  `create table imports (
    source_key text primary key,
    version_id text references versions (id),
    intervention_id integer references interventions (id),
    run_id integer references runs (id),
    line integer,
    text text,
    reason text,
    imported_at text not null,
    check ((reason is null) = (intervention_id is not null))
  ) strict`,
]

/** Tables whose rows are final, with the condition under which a new row would replace an old one. */
const final: Readonly<Record<string, string>> = {
  versions: 'id = new.id',
  current_versions: 'id = new.id',
  interventions: 'id = new.id or (version_id = new.version_id and hash = new.hash)',
  runs: 'id = new.id or (intervention_id = new.intervention_id and seed = new.seed and attempt = new.attempt)',
  outcomes: 'run_id = new.run_id',
  forecasts: 'id = new.id',
  verdicts: 'id = new.id or supersedes = new.supersedes',
  choices: 'campaign_id = new.campaign_id and round = new.round and intervention_id = new.intervention_id',
  rounds: 'campaign_id = new.campaign_id and round = new.round',
  dropped_candidates: 'id = new.id',
  imports: 'source_key = new.source_key',
  campaigns: 'id = new.id',
  campaign_events: 'id = new.id',
}

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of tables) await sql.raw(table).execute(db)
  for (const [table, same] of Object.entries(final)) {
    const refusal = `raise(abort, 'rows of ${table} are final: they are never changed or deleted')`
    await sql
      .raw(`create trigger ${table}_no_update before update on ${table} begin select ${refusal}; end`)
      .execute(db)
    await sql
      .raw(`create trigger ${table}_no_delete before delete on ${table} begin select ${refusal}; end`)
      .execute(db)
    // `insert or replace` deletes without firing delete triggers, so the newcomer is dropped before it can.
    const exists = `exists (select 1 from ${table} where ${same})`
    const kept = `create trigger ${table}_first_stays before insert on ${table} when ${exists}`
    await sql.raw(`${kept} begin select raise(ignore); end`).execute(db)
  }
}
