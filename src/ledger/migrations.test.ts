/** A ledger of the first schema with rows in it is brought to the newest one: all is kept, and what is new is empty. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, test } from 'vitest'
import { forecast, intervention } from './fixtures/tiny.ts'
import { openLedger } from './ledger.ts'
import * as definitions from './migrations/0001-definitions.ts'
import { openFile, sqliteDialect } from './sqlite.ts'
import type { Tables } from './tables.ts'

test('a round of before there were language models and a gate is read, and had neither; an imported line has its place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-migrations-'))
  const path = join(folder, 'ledger.db')
  const db = new Kysely<Tables>({ dialect: sqliteDialect(path, openFile(path)) })
  const provider = { getMigrations: async () => ({ '0001-definitions': definitions }) }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  expect(error).toBeUndefined()
  await db.destroy()

  const old = new DatabaseSync(path)
  const { quantiles, finishes } = forecast(0.3)
  const { sentence, overrides } = intervention(0.2)
  old.exec(`
    insert into families values ('f', 'tiny', '{}', '2026');
    insert into versions values ('v', 'f', '{}', null, null, '2026');
    insert into interventions values (1, 'v', 'h', 'candidate', '${sentence}', '${JSON.stringify(overrides)}', null, '["rate"]', null, '2026');
    insert into campaigns values (1, 'f', 'v', '{}', '2026');
    insert into forecasts values (1, 1, '${JSON.stringify(quantiles)}', ${finishes}, 'constant', '1', '[]', 1, 1, '2026');
    insert into rounds values (1, 1, '2026');
    insert into choices values (1, 1, 0, 1, 1, 0.5, 'explored');
    insert into imports values ('k', 'v', 1, null, 12, 'a note', null, '2026');
  `)
  old.close()

  {
    await using ledger = await openLedger(path)
    const [round] = await ledger.roundsOf(1)
    expect(round!.candidates).toMatchObject([
      { probability: 0.5, choice: 'explored', gated: null, intervention: intervention(0.2), forecast: forecast(0.3) },
    ])
    expect(round!.candidates[0]!.forecast).not.toHaveProperty('model')
    expect(await ledger.importedRowsOf(['k'])).toEqual(
      new Map([
        ['k', { versionId: 'v', interventionId: 1, runId: null, place: 'line 12', text: 'a note', readingId: null }],
      ]),
    )
  }
  const now = new DatabaseSync(path)
  expect(() => now.exec(`update choices set gated = 'because'`)).toThrow('rows of choices are final')
  expect(() => now.exec(`update imports set place = 'there'`)).toThrow('rows of imports are final')
  now.close()
  rmSync(folder, { recursive: true })
})
