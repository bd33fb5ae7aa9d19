import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimant, family, forecast, intervention, outcome, reference } from './fixtures/tiny.ts'
import { type Ledger, openLedger } from './ledger.ts'
import { migrate } from './migrations.ts'
import { openFile, sqliteDialect } from './sqlite.ts'
import type { Tables } from './tables.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-ledger-'))
  path = join(folder, '.almanac', 'ledger.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

describe('openLedger', () => {
  test('creates the folder, which ignores itself, and a WAL database', async () => {
    {
      await using ledger = await openLedger(path)
      expect(await ledger.families()).toEqual([])
      expect(existsSync(`${path}-wal`)).toBe(true)
    }
    expect(readFileSync(join(folder, '.almanac', '.gitignore'), 'utf8')).toBe('*\n')
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test("never writes an ignore file into a folder of the user's", async () => {
    await using _ = await openLedger(join(folder, 'mine.db'))
    expect(readdirSync(folder)).not.toContain('.gitignore')
  })

  test('opens again what it wrote', async () => {
    {
      await using ledger = await openLedger(path)
      await ledger.ensureFamily(family)
    }
    await using ledger = await openLedger(path)
    expect((await ledger.families('tiny')).map(({ family }) => family)).toEqual([family])
  })

  test('can be closed twice, and without having been used', async () => {
    const ledger = await openLedger(path)
    await ledger.close()
    await ledger.close()
    const again = await openLedger(path)
    await again.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('refuses a ledger of a newer version and leaves it as it was', async () => {
    await (await openLedger(path)).close()
    const newer = new DatabaseSync(path)
    newer.exec(`insert into kysely_migration values ('9999-from-the-future', '2030-01-01T00:00:00.000Z')`)
    newer.close()
    const before = hashOf(path)
    await expect(openLedger(path)).rejects.toThrow(
      `The ledger ${path} was written by a newer version of Almanac (it has the step 9999-from-the-future): update Almanac. The file was left as it is.`,
    )
    expect(hashOf(path)).toBe(before)
    expect(readdirSync(join(folder, '.almanac')).sort()).toEqual(['.gitignore', 'ledger.db'])
  })

  test('refuses a database of another program and leaves it as it was', async () => {
    const other = join(folder, 'other.db')
    const database = new DatabaseSync(other)
    database.exec('create table bookmarks (id)')
    database.close()
    const before = hashOf(other)
    await expect(openLedger(other)).rejects.toThrow(`${other} is a database of another program (tables bookmarks)`)
    expect(hashOf(other)).toBe(before)
  })

  test('refuses what is no database, with a sentence', async () => {
    const text = join(folder, 'notes.txt')
    writeFileSync(text, 'these are notes and no database at all\n'.repeat(100))
    const before = hashOf(text)
    await expect(openLedger(text)).rejects.toThrow(`The ledger ${text} is not a database: name another file`)
    expect(hashOf(text)).toBe(before)
  })

  test('refuses a folder in place of the file, and a file in place of the folder', async () => {
    mkdirSync(path, { recursive: true })
    await expect(openLedger(path)).rejects.toThrow(`The ledger ${path} cannot be opened`)
    writeFileSync(join(folder, 'file'), '')
    await expect(openLedger(join(folder, 'file', 'ledger.db'))).rejects.toThrow("The ledger's folder")
  })

  test('a full disk is one sentence, and nothing is half-written', async () => {
    const file = openFile(join(folder, 'full.db'))
    const db = new Kysely<Tables>({ dialect: sqliteDialect(join(folder, 'full.db'), file) })
    await migrate('full.db', db)
    // SQLite's own limit gives the error of a full disk (SQLITE_FULL) without filling one.
    const { page_count } = file.prepare('pragma page_count').get() as { page_count: number }
    file.exec(`pragma max_page_count = ${page_count + 20}`)
    const row = { id: 'a', name: 'a', definition: 'x'.repeat(1000), created_at: '' }
    const insertMany = db.transaction().execute(async transaction => {
      for (let i = 0; i < 1000; i++)
        await transaction
          .insertInto('families')
          .values({ ...row, id: `${i}` })
          .execute()
    })
    await expect(insertMany).rejects.toThrow('cannot grow because the disk is full: free some space')
    expect(await db.selectFrom('families').selectAll().execute()).toEqual([])
    await db.insertInto('families').values(row).execute()
    await db.destroy()
  })
})

describe('what is written stays', () => {
  let ledger: Ledger
  let raw: DatabaseSync
  beforeEach(async () => {
    ledger = await openLedger(path)
    const familyId = await ledger.ensureFamily(family)
    const { id } = await ledger.ensureVersion(familyId, reference(0.1))
    await ledger.setCurrentVersion(familyId, id, 'configured')
    const { id: interventionId } = await ledger.ensureIntervention(id, 'h', intervention(0.2))
    const campaign = await ledger.createCampaign({ familyId, versionId: id, definition: {}, claimant })
    const candidate = { hash: 'h', intervention: intervention(0.2), forecast: forecast(0), probability: 1 }
    const candidates = [{ ...candidate, choice: 'exploited' as const, gated: null }]
    const dropped = [{ intervention: intervention(0.1), why: 'It changes nothing.' }]
    await ledger.storeRound({ campaignId: campaign.id, round: 1, versionId: id, candidates, dropped })
    await ledger.recordImports([['log/1', { reason: 'no number', place: 'line 1', text: 'x' }]])
    await ledger.importRuns([{ interventionId, seed: 0, attempt: 0, outcome: outcome('crashed') }])
    await ledger.storeVerdict(interventionId, { verdict: 'failed', measured: null, runIds: [1] })
    raw = new DatabaseSync(path)
  })
  afterEach(async () => {
    raw.close()
    await ledger.close()
  })

  test.each([
    'versions',
    'current_versions',
    'interventions',
    'runs',
    'outcomes',
    'forecasts',
    'verdicts',
    'rounds',
    'choices',
    'dropped_candidates',
    'imports',
    'campaigns',
    'campaign_events',
  ])('rows of %s are neither changed, deleted nor replaced, whoever holds the file', table => {
    const rows = raw.prepare(`select * from ${table}`).all()
    expect(rows.length).toBeGreaterThan(0)
    const columns = Object.keys(rows[0]!)
    for (const column of columns) {
      expect(() => raw.exec(`update ${table} set ${column} = ${column}`)).toThrow(`rows of ${table} are final`)
    }
    expect(() => raw.exec(`delete from ${table}`)).toThrow(`rows of ${table} are final`)
    raw.exec(`insert or replace into ${table} select * from ${table}`)
    expect(raw.prepare(`select * from ${table}`).all()).toEqual(rows)
  })

  test('an open run is not replaced by another claim of its key', () => {
    raw.exec(`insert into runs values (50, 2, 7, 0, null, 'mine', 1, '1', '')`)
    raw.exec(`insert or replace into runs values (51, 2, 7, 0, null, 'theirs', 2, '2', '')`)
    expect(raw.prepare('select id, folder from runs where seed = 7').all()).toEqual([{ id: 50, folder: 'mine' }])
  })

  test('a run of an unknown intervention, or an outcome of an unknown run, is refused', async () => {
    const claim = { interventionId: 999, seed: 0, attempt: 0, folder: '', claimant }
    await expect(ledger.claimRun(claim)).rejects.toThrow('FOREIGN KEY')
    await expect(ledger.writeOutcome(999, outcome('finished', 1))).rejects.toThrow('FOREIGN KEY')
  })
})

describe('transaction', () => {
  test('takes everything back when it throws', async () => {
    await using ledger = await openLedger(path)
    const failing = ledger.transaction(async ledger => {
      await ledger.ensureFamily(family)
      await ledger.transaction(ledger => ledger.ensureFamily({ ...family, name: 'inner' }))
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await ledger.families()).toEqual([])
  })

  test('says so instead of waiting for ever when the outer ledger is used inside', async () => {
    await using ledger = await openLedger(path)
    await expect(ledger.transaction(() => ledger.families())).rejects.toThrow(
      'use the ledger that the transaction hands',
    )
    await expect(ledger.transaction(() => ledger.transaction(async () => 1))).rejects.toThrow('use the ledger that')
    expect(await ledger.families()).toEqual([])
  })

  test('what a transaction set going may use the ledger once it is over', async () => {
    await using ledger = await openLedger(path)
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    let later: Promise<unknown> | undefined
    await ledger.transaction(async () => {
      later = over.then(() => ledger.families())
    })
    end()
    expect(await later).toEqual([])
  })

  test('calls of the same process at the same time wait for each other', async () => {
    await using ledger = await openLedger(path)
    const names = Array.from({ length: 50 }, (_, index) => `family ${index}`)
    await Promise.all(names.map(name => ledger.ensureFamily({ ...family, name })))
    expect((await ledger.families()).map(({ family }) => family.name).sort()).toEqual(names.sort())
  })
})
