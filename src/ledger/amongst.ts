/** A list of ids as one parameter of a query: a long history has more versions than SQLite takes parameters. */
import { sql } from 'kysely'

export function amongst<Id extends string | number>(ids: readonly Id[]) {
  return sql<Id>`(select value from json_each(${JSON.stringify(ids)}))`
}
