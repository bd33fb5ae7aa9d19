import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { quickStart } from '../command-line.ts'
import { family as tinyFamily } from './fixtures/tiny.ts'
import { openLedger } from './ledger.ts'

const start = promisify(execFile)
const program = (name: string) => fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url))

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-concurrency-'))
  path = join(folder, '.almanac', 'ledger.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('several first openers: one makes the schema, all write', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  await Promise.all(names.map(name => start(process.execPath, [program('opener'), path, name], { env: quickStart })))
  await using ledger = await openLedger(path)
  expect((await ledger.families()).map(({ family }) => family.name).sort()).toEqual(names)
  const file = new DatabaseSync(path)
  expect(file.prepare('select count(*) as applied from kysely_migration').get()).toEqual({
    applied: readdirSync(new URL('migrations', import.meta.url)).length,
  })
  file.close()
})

test('four processes claim the same keys: each is claimed once, and no write is lost', async () => {
  const interventions = 60
  const seeds = 3
  const first = await seedLedger(interventions)
  const claimers = await Promise.all(
    Array.from({ length: 4 }, () =>
      start(process.execPath, [program('claimer'), path, String(first), String(interventions), String(seeds)], {
        env: quickStart,
      }),
    ),
  )
  const reports = claimers.map(({ stdout }) => JSON.parse(stdout) as { pid: number; claimed: number[] })
  const claimed = reports.flatMap(report => report.claimed)
  expect(claimed).toHaveLength(interventions * seeds)
  expect(new Set(claimed).size).toBe(interventions * seeds)

  await using ledger = await openLedger(path)
  expect(await ledger.openRuns()).toEqual([])
  const ownerOf = new Map(reports.flatMap(({ pid, claimed }) => claimed.map(id => [id, pid] as const)))
  const runs = (await ledger.recordsOf()).flatMap(record => record.runs)
  expect(runs).toHaveLength(interventions * seeds)
  for (const run of runs) expect(run.outcome!.metrics['loss']).toBe(ownerOf.get(run.id))
})

test('one long write after the other lets in who waits', async () => {
  await using ledger = await openLedger(path)
  await ledger.ensureFamily(tinyFamily)
  let isDone = false
  const other = start(process.execPath, [program('opener'), path, 'other'], { env: quickStart })
  const done = other.then(() => (isDone = true))
  let writes = 0
  for (; !isDone && writes < 30; writes++) {
    await ledger.transaction(async ledger => {
      await ledger.ensureFamily({ ...tinyFamily, name: `${writes}` })
      await pause(250)
    })
  }
  expect(isDone).toBe(true)
  await done
})

async function seedLedger(interventions: number): Promise<number> {
  await using ledger = await openLedger(path)
  const family = await ledger.ensureFamily(tinyFamily)
  const { id } = await ledger.ensureVersion(family, { configuration: 1, commit: null, tree: null, code: null })
  const ids: number[] = []
  for (let i = 0; i < interventions; i++) {
    const intervention = { sentence: `${i}`, overrides: null, diff: null, tags: [], origin: null }
    ids.push((await ledger.ensureIntervention(id, `${i}`, intervention)).id)
  }
  expect(ids.at(-1)! - ids[0]!).toBe(interventions - 1)
  return ids[0]!
}
