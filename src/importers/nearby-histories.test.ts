/** What `init` finds to import in a folder: each format at its usual place, and nothing that is no history or that a link leads to. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nearbyHistories } from './nearby-histories.ts'

const fixtures = join(import.meta.dirname, 'fixtures')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-nearby-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}
const copy = (name: string, fixture: string) => write(name, readFileSync(join(fixtures, fixture), 'utf8'))
const table = 'commit\tval_bpb\tstatus\tdescription\na1\t1\tkeep\tbaseline\na2\t0.9\tkeep\twider\n'
const found = async () => (await nearbyHistories(folder)).map(({ path, format }) => `${path} ${format}`)

test('logs and trackers, the nearest first', async () => {
  write('results.tsv', table)
  write(
    '.auto/log.jsonl',
    '{"type": "config", "metricName": "loss"}\n{"metric": 1, "status": "keep", "description": "a"}\n',
  )
  write('mlruns/0/meta.yaml', "experiment_id: '0'\nname: Default\nlifecycle_stage: active\n")
  mkdirSync(join(folder, 'search'))
  const database = new DatabaseSync(join(folder, 'search', 'study.db'))
  database.exec(`begin; ${readFileSync(join(fixtures, 'optuna-12.sql'), 'utf8')} commit`)
  database.close()
  copy('search/deep/journal.log', 'optuna-journal.jsonl')
  copy('logs/2-my-run/journal.json', 'aide-journal.json')
  copy('ax_client_snapshot.json', 'ax-client.json')
  expect(await found()).toEqual([
    'ax_client_snapshot.json ax',
    'mlruns mlflow',
    'results.tsv tsv',
    '.auto/log.jsonl pi',
    'search/study.db optuna',
    'logs/2-my-run/journal.json aide',
    'search/deep/journal.log optuna',
  ])
})

test('neither data, nor what others brought, nor what lies too deep, nor what a link leads to', async () => {
  write('corpus.tsv', table)
  write('package.json', '{"name": "a"}')
  write('results.json', '{"val_bpb": 1}')
  write('experiments.csv', 'a,b\n')
  write('broken.db', 'SQLite format 3\0 and nothing more')
  write('node_modules/package/results.tsv', table)
  write('.venv/results.tsv', table)
  write('a/b/c/results.tsv', table)
  const elsewhere = mkdtempSync(join(tmpdir(), 'almanac-elsewhere-'))
  writeFileSync(join(elsewhere, 'results.tsv'), table)
  symlinkSync(elsewhere, join(folder, 'linked'))
  symlinkSync(join(elsewhere, 'results.tsv'), join(folder, 'results.tsv'))
  try {
    expect(await found()).toEqual([])
    write('a/b/results.tsv', table)
    expect(await found()).toEqual(['a/b/results.tsv tsv'])
  } finally {
    rmSync(elsewhere, { recursive: true })
  }
})
