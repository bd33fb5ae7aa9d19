/** Which importer of the list takes a source: each its own, and none what belongs to another. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { importerFor, importers } from './formats.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'recognised-'))
afterAll(() => rmSync(folder, { recursive: true }))
const fixtures = join(import.meta.dirname, 'fixtures')

for (const name of ['optuna-12', 'optuna-2.3', 'trackio', 'trackio-old', 'shinka']) {
  using made = new DatabaseSync(join(folder, `${name}.db`))
  made.exec(`pragma synchronous = off; begin; ${readFileSync(join(fixtures, `${name}.sql`), 'utf8')} commit`)
}
mkdirSync(join(folder, 'evolution', 'checkpoint_1', 'programs'), { recursive: true })
writeFileSync(join(folder, 'evolution', 'checkpoint_1', 'metadata.json'), '{}')
writeFileSync(
  join(folder, 'evolution', 'checkpoint_1', 'programs', 'a.json'),
  '{"id": "a", "code": "x", "metrics": {}}',
)

test.each([
  [join(folder, 'optuna-12.db'), 'optuna'],
  [join(folder, 'optuna-2.3.db'), 'optuna'],
  [join(fixtures, 'optuna-journal.jsonl'), 'optuna'],
  [join(fixtures, 'optuna-trials.csv'), 'optuna'],
  [join(folder, 'trackio.db'), 'trackio'],
  [join(folder, 'trackio-old.db'), 'trackio'],
  [folder, 'trackio'],
  [join(folder, 'shinka.db'), 'shinka'],
  [join(folder, 'evolution', 'checkpoint_1'), 'openevolve'],
  [join(fixtures, 'aide-journal.json'), 'aide'],
  [join(fixtures, 'ax-client.json'), 'ax'],
  [join(fixtures, 'ax-experiment.json'), 'ax'],
])('%s is read as %s', async (path, format) => {
  const source = sourceOf(path, '/')
  expect((await importerFor(source)).name).toBe(format)
  // Alone: the order of the list does not decide.
  const trackers = importers.filter(({ name }) =>
    /^(mlflow|wandb|optuna|trackio|shinka|openevolve|aide|ax)$/.test(name),
  )
  const claiming = await Promise.all(trackers.map(async each => ((await each.recognises(source)) ? each.name : null)))
  expect(claiming.filter(name => name !== null)).toEqual([format])
})
