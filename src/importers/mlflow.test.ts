import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servers } from './fixtures/http-server.ts'
import { id, mlflow, writeDatabase, writeFileStore } from './fixtures/mlflow.ts'
import type { ImportOptions } from './importer.ts'
import { mlflow as mlflowImporter } from './mlflow.ts'
import { isMlflowFolder, readMlflowFiles } from './mlflow-files.ts'
import { readMlflowServer } from './mlflow-rest.ts'
import { isMlflowSqlite, readMlflowSqlite } from './mlflow-sqlite.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistory } from './tracked-history.ts'

const serve = servers()
let folder: string
let store: string
let url: URL
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-mlflow-'))
  store = join(folder, 'store')
  writeDatabase(join(folder, 'mlflow.db'), { isOld: false })
  await writeFileStore(store)
  url = await serve(mlflow)
})
afterAll(() => rm(folder, { recursive: true }))

const stores: readonly [string, (options: ImportOptions) => Promise<TrackedExperiment[]>][] = [
  ['SQLite', async options => readMlflowSqlite(join(folder, 'mlflow.db'), options)],
  ['the file store', options => readMlflowFiles(store, options)],
  ['a server', options => readMlflowServer(url, options)],
]

describe.each(stores)('MLflow from %s', (_, read) => {
  let experiment: TrackedExperiment
  let named: ReadonlyMap<string | null, TrackedExperiment['runs'][number]>
  beforeAll(async () => {
    const experiments = await read({})
    expect(experiments.map(({ name }) => name)).toEqual(['tuning'])
    experiment = experiments[0]!
    named = new Map(experiment.runs.map(run => [run.name, run]))
  })

  test('parameters are the configuration, as values', () => {
    expect(named.get('plain')!.configuration).toEqual({
      'opt/lr': 0.001,
      depth: 4,
      warm: true,
      layers: [1, 2],
      note: "it's: a text",
      id: '007',
      none: null,
    })
  })

  test('a metric is its last value by step, moment and value', () => {
    expect(named.get('plain')!.metrics).toEqual({ 'val/loss': 0.5, ordered: 8 })
    expect(experiment.guesses[0]).toContain('the last one logged')
  })

  test('the primary metric of the experiment is the objective; one whose last value is not a number diverged', () => {
    expect(experiment).toMatchObject({
      description: 'what it is about',
      objective: { name: 'val/loss', direction: 'minimize' },
    })
    expect(named.get('broken')).toMatchObject({
      metrics: {},
      notFinite: expect.arrayContaining(['peak', 'val/loss']),
      text: 'a high learning rate',
    })
    const { rows } = trackedHistory(experiment, 'mlruns')
    expect(rows.map(({ outcome }) => outcome.kind)).toEqual([
      'finished',
      'diverged',
      'crashed',
      'cancelled',
      'finished',
      'finished',
    ])
  })

  test('how runs ended, when, and on which commit', () => {
    expect(named.get('crashed')).toMatchObject({ kind: 'crashed', status: 'FAILED', reason: 'MLflow says FAILED' })
    expect(named.get('stopped')).toMatchObject({ kind: 'cancelled', finishedAt: null, seconds: null })
    expect(named.get('plain')).toMatchObject({
      id: id('a'),
      place: 'run aaaaaaaa',
      commit: 'c0ffee0',
      startedAt: '2023-11-14T22:13:20.000Z',
      seconds: 90.5,
      tags: ['stage=one'],
    })
    expect(experiment.runs.map(run => run.name)).toEqual([
      'plain',
      'broken',
      'crashed',
      'stopped',
      'child 0',
      'child 1',
    ])
  })

  test('nested runs take what the run around them set, not what came out of it', () => {
    expect(named.get('child 1')!.configuration).toEqual({ data: 'small', lr: 0.2 })
    expect(experiment.guesses[1]).toContain('2 nested runs take parameters')
  })

  test('what cannot be used is named with its reason', () => {
    expect(experiment.unusable.map(({ place, reason }) => [place, reason])).toEqual([
      ['run 22222222', 'was deleted in MLflow'],
      ['run eeeeeeee', 'groups nested runs, which are read each on its own'],
      ['run 11111111', 'never ended, or runs still: its status is RUNNING'],
    ])
  })

  test('nothing says who, where, or with which arguments, unless asked for', async () => {
    expect(JSON.stringify(experiment)).not.toMatch(/ada|lovelace|home|example\.org|stolen/)
    const [kept] = await read({ keepPersonal: true })
    expect(kept!.runs[0]!.note).toBe('mlflow.user: ada.lovelace; mlflow.source.name: /home/ada/train.py')
  })

  test.each([
    ['val/loss:min', 0.4],
    ['val/loss:max', 0.9],
  ])('%s', async (name, value) => {
    const [chosen] = await read({ metric: { name, direction: 'minimize' } })
    expect(chosen!.objective).toEqual({ name, direction: 'minimize' })
    expect(chosen!.runs[0]!.metrics).toEqual({ 'val/loss': 0.5, ordered: 8, [name]: value })
    expect(chosen!.runs[1]!.metrics).toEqual({ [name]: 0.9 })
  })
})

test('databases before MLflow 1.2 have no table of last values and no flag for NaN', () => {
  const path = join(folder, 'old.db')
  writeDatabase(path, { isOld: true })
  expect(isMlflowSqlite(path)).toBe(true)
  const [experiment] = readMlflowSqlite(path, {})
  expect(experiment!.runs[0]!.metrics).toEqual({ 'val/loss': 0.5, ordered: 8 })
  expect(experiment!.objective).toBeNull()
})

test('runs whose folders are broken are named', async () => {
  const broken = join(folder, 'broken')
  await writeFileStore(broken)
  await writeFile(join(broken, 'mlruns', '1', id('a'), 'meta.yaml'), 'run_id: [')
  await rm(join(broken, 'mlruns', '1', id('b'), 'meta.yaml'))
  const [experiment] = await readMlflowFiles(broken, {})
  expect(experiment!.runs.map(run => run.name)).not.toContain('plain')
  expect(experiment!.unusable.slice(-2)).toMatchObject([
    {
      place: 'run aaaaaaaa',
      reason:
        'its meta.yaml cannot be read: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 10',
    },
    { place: 'run bbbbbbbb', reason: 'has no meta.yaml' },
  ])
})

test('a link or a pipe where a file belongs is not opened: it leads elsewhere, or waits for ever', async () => {
  const trap = join(folder, 'trap')
  await writeFileStore(trap)
  const at = (...path: string[]) => join(trap, 'mlruns', ...path, 'meta.yaml')
  await writeFile(join(folder, 'elsewhere.yaml'), `experiment_id: 7\nname: elsewhere\nrun_id: ${id('b')}\n`)
  for (const run of ['a', 'b']) await rm(at('1', id(run)))
  execFileSync('mkfifo', [at('1', id('a'))])
  await symlink(join(folder, 'elsewhere.yaml'), at('1', id('b')))
  await mkdir(join(trap, 'mlruns', '7'))
  await symlink(join(folder, 'elsewhere.yaml'), at('7'))
  const cli = join(import.meta.dirname, '..', 'cli.ts')
  const call = [cli, 'import', 'mlruns', '--dry-run', '--json']
  const { stdout } = spawnSync(process.execPath, call, { cwd: trap, encoding: 'utf8', timeout: 10_000 })
  const { environments, unusable } = JSON.parse(stdout)
  expect(environments).toMatchObject([{ name: 'mlruns/tuning' }])
  for (const place of ['run aaaaaaaa', 'run bbbbbbbb']) {
    expect(unusable).toContainEqual(expect.objectContaining({ place, reason: 'has no meta.yaml' }))
  }

  const linked = join(folder, 'linked')
  await mkdir(linked)
  await symlink(join(folder, 'mlflow.db'), join(linked, 'mlflow.db'))
  expect(await mlflowImporter.recognises({ kind: 'folder', path: linked, name: 'linked' })).toBe(false)
})

test('what is MLflow and what is not', () => {
  expect(isMlflowFolder(store)).toBe(true)
  expect(isMlflowFolder(join(store, 'mlruns', '1'))).toBe(true)
  expect(isMlflowFolder(join(store, 'outside'))).toBe(false)
  expect(isMlflowFolder(tmpdir())).toBe(false)
  expect(isMlflowSqlite(join(store, 'outside', 'meta.yaml'))).toBe(false)
  expect(isMlflowSqlite(join(store, 'nowhere.db'))).toBe(false)
})
