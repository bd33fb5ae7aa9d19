/** A ledger of the first schema with rows in it is brought to the newest one: all is kept, and what is new is empty. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, test } from 'vitest'
import { quickStart } from '../command-line.ts'
import { seededRandom } from '../statistics/random.ts'
import { forecast, intervention } from './fixtures/tiny.ts'
import { openLedger } from './ledger.ts'
import * as definitions from './migrations/0001-definitions.ts'
import { openFile, sqliteDialect } from './sqlite.ts'
import type { Tables } from './tables.ts'

/** How many steps there are. */
const newest = readdirSync(new URL('migrations', import.meta.url)).length

/** A ledger of the first schema. */
async function makeFirst(path: string): Promise<void> {
  const db = new Kysely<Tables>({ dialect: sqliteDialect(path, openFile(path)) })
  const provider = { getMigrations: async () => ({ '0001-definitions': definitions }) }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  expect(error).toBeUndefined()
  await db.destroy()
}

test('a round of before there were language models and a gate is read, and had neither; an imported line has its place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-migrations-'))
  const path = join(folder, 'ledger.db')
  await makeFirst(path)

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
    // Of what it was said of it then nothing is known, and it can be withdrawn.
    expect(await ledger.readings()).toMatchObject([{ id: 1, familyId: 'f', source: 'tiny', definition: null }])
    expect(await ledger.importedRowsOf(['k'])).toEqual(
      new Map([
        [
          'k',
          {
            versionId: 'v',
            interventionId: 1,
            runId: null,
            place: 'line 12',
            text: 'a note',
            readingId: 1,
            meaning: null,
          },
        ],
      ]),
    )
  }
  const now = new DatabaseSync(path)
  expect(() => now.exec(`update choices set gated = 'because'`)).toThrow('rows of choices are final')
  expect(() => now.exec(`update imports set place = 'there'`)).toThrow('rows of imports are final')
  now.close()
  rmSync(folder, { recursive: true })
})

test('kill -9 while an old ledger is brought to the newest schema: it is as before or done, and opening it again does the rest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-migrations-'))
  const first = join(folder, 'first.db')
  await makeFirst(first)
  const old = new DatabaseSync(first)
  old.exec(`
    insert into families values ('f', 'tiny', '{}', '2026');
    insert into versions values ('v', 'f', '{}', null, null, '2026');
    insert into interventions values (1, 'v', 'h', 'candidate', 's', null, null, '[]', null, '2026');
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
    insert into imports select 'k' || i, 'v', 1, null, i, 'a note', null, '2026' from n;
  `)
  old.close()
  const opener = fileURLToPath(new URL('fixtures/opener.ts', import.meta.url))
  const random = seededRandom('migration')
  for (let round = 0; round < 4; round++) {
    const path = join(folder, `${round}.db`)
    copyFileSync(first, path)
    const child = spawn(process.execPath, [opener, path, 'new'], { env: quickStart, stdio: 'ignore' })
    const ended = once(child, 'close')
    while (!existsSync(`${path}-wal`) && child.exitCode === null) await pause(1)
    await pause(random.uniform() * 80)
    child.kill('SIGKILL')
    await ended

    const left = new DatabaseSync(path)
    expect(left.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect([1, newest]).toContain(left.prepare('select count(*) as applied from kysely_migration').get()!['applied'])
    left.close()
    await (await openLedger(path)).close()
    const now = new DatabaseSync(path)
    expect(now.prepare('select count(*) as rows, count(distinct source_key) as keys from imports').get()).toEqual({
      rows: 100_000,
      keys: 100_000,
    })
    expect(now.prepare('select count(*) as applied from kysely_migration').get()).toEqual({ applied: newest })
    now.close()
  }
  rmSync(folder, { recursive: true })
})
