/**
 * What a language model says beside its numbers and what its answer took, with the forecast; and forecasts that were asked
 * for and failed, which have no numbers and are final like the others.
 */
import { type Kysely, sql } from 'kysely'

const statements = [
  'alter table forecasts add column explanation text',
  'alter table forecasts add column model text',
  `create table failed_forecasts (
    id integer primary key,
    intervention_id integer not null references interventions (id),
    reason text not null,
    forecaster text not null,
    forecaster_version text not null,
    record_ids text not null,
    model text,
    campaign_id integer references campaigns (id),
    round integer,
    made_at text not null
  ) strict`,
  'create index failed_forecasts_intervention on failed_forecasts (intervention_id)',
  ...['update', 'delete'].map(
    change =>
      `create trigger failed_forecasts_no_${change} before ${change} on failed_forecasts begin
        select raise(abort, 'rows of failed_forecasts are final: they are never changed or deleted');
      end`,
  ),
  `create trigger failed_forecasts_first_stays before insert on failed_forecasts
    when exists (select 1 from failed_forecasts where id = new.id) begin select raise(ignore); end`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
