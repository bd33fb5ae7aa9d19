import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLedger } from '../ledger/ledger.ts'
import { servers } from './fixtures/http-server.ts'
import { mlflow, writeDatabase, writeFileStore } from './fixtures/mlflow.ts'
import { writeLog } from './fixtures/wandb.ts'
import { importedFamily } from './imported-family.ts'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'
import { storeHistory } from './store-history.ts'

const serve = servers()
let folder: string
let sources: readonly string[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-trackers-'))
  writeDatabase(join(folder, 'mlflow.db'), { isOld: false })
  await mkdir(join(folder, 'files'))
  await writeFileStore(join(folder, 'files'))
  const log = join(folder, 'run-a1.wandb')
  const path = '"/home/ada/data"'
  writeLog(log, {
    id: 'a1',
    config: { lr: '0.1', user: '"ada"', path },
    history: [{ loss: '0.5' }],
    notes: 'of ada@example.org',
  })
  await utimes(log, 1, 1)
  sources = ['mlflow.db', 'files', 'run-a1.wandb', (await serve(mlflow)).href]
})
afterAll(() => rm(folder, { recursive: true }))

async function store(keepPersonal: boolean): Promise<{ added: number; known: number }> {
  await using ledger = await openLedger(join(folder, keepPersonal ? 'personal.db' : 'ledger.db'))
  const counts = { added: 0, known: 0 }
  for (const source of sources) {
    const { histories } = await readSource(sourceOf(source, folder), { keepPersonal })
    for (const history of histories) {
      const family = await importedFamily(ledger, history, 'minimize', [])
      const { added, known } = await storeHistory(ledger, family, history)
      counts.added += added.references + added.kept + added.tried
      counts.known += known
    }
  }
  return counts
}

/** Every byte of the ledger, and of what SQLite keeps beside it. */
function bytesOf(name: string): string {
  const files = readdirSync(folder).filter(file => file.startsWith(name))
  return files.map(file => readFileSync(join(folder, file), 'latin1')).join('\n')
}

test('what trackers say of who and where is nowhere in the ledger, and importing again adds nothing', async () => {
  expect(await store(false)).toEqual({ added: 19, known: 0 })
  expect(await store(false)).toEqual({ added: 0, known: 19 })
  expect(bytesOf('ledger.db')).not.toMatch(/ada\b|lovelace|laptop|example\.org|secret-argument|\/home\//)
  await store(true)
  for (const said of ['ada.lovelace', 'adas-laptop', '--secret-argument'])
    expect(bytesOf('personal.db')).toContain(said)
})
