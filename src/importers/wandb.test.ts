import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { message, type WrittenRun, writeLog } from './fixtures/wandb.ts'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'
import { readWandbFolder } from './wandb-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'almanac-wandb-'))
afterAll(() => rmSync(root, { recursive: true }))
let folder: string
let count = 0
beforeEach(() => {
  folder = join(root, String(count++))
  mkdirSync(folder)
})

/** A run's folder as W&B makes it, rested for a day. */
function logged(run: WrittenRun, time = '20231114_221320'): string {
  const place = join(folder, 'wandb', `offline-run-${time}-${run.id}`)
  mkdirSync(join(place, 'files'), { recursive: true })
  const path = join(place, `run-${run.id}.wandb`)
  writeLog(path, run)
  const yesterday = Date.now() / 1000 - 86_400
  utimesSync(path, yesterday, yesterday)
  return place
}

function synced(id: string, files: Readonly<Record<string, string>>, time = '20231114_221320'): void {
  const place = join(folder, 'wandb', `run-${time}-${id}`, 'files')
  mkdirSync(place, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
}

const metadata = JSON.stringify({
  startedAt: '2023-11-14T22:13:20.000000',
  host: 'adas-laptop',
  username: 'ada',
  email: 'ada@example.org',
  program: '/home/ada/train.py',
  args: ['--secret-argument'],
  git: { remote: 'git@example.org:ada/bread.git', commit: 'c0ffee0' },
})
const config = `wandb_version: 1

_wandb:
  desc: null
  value:
    cli_version: 0.15.0
    e:
      email: ada@example.org
betas:
  desc: null
  value: &id001
  - 0.9
  - 0.99
eval_betas:
  desc: null
  value: *id001
model:
  desc: null
  value:
    depth: 4
    note: 'it''s: quoted'
lr:
  desc: null
  value: 0.001
`

describe('local folders of W&B', () => {
  test('are read by project, in order of time, links passed over', async () => {
    const second = logged(
      { id: 'b2', start: 1_700_000_100, config: { lr: '0.2' }, history: [{ loss: '0.4' }] },
      '20231114_221500',
    )
    logged({ id: 'a1', config: { lr: '0.1' }, history: [{ loss: '0.5' }], exit: 1 })
    logged({ id: 'c3', project: 'cakes', history: [{ loss: '0.1' }] })
    symlinkSync(second, join(folder, 'wandb', 'latest-run'))
    const experiments = await readWandbFolder(folder, {})
    expect(experiments.map(({ name, runs }) => [name, runs.map(run => run.id)])).toEqual([
      ['bread', ['a1', 'b2']],
      ['cakes', ['c3']],
    ])
    expect(experiments[0]!.runs[0]).toMatchObject({
      kind: 'crashed',
      status: 'failed',
      reason: 'exit code 1',
      configuration: { lr: 0.1 },
      metrics: { loss: 0.5 },
      startedAt: '2023-11-14T22:13:20.500Z',
      finishedAt: '2023-11-14T22:13:27.500Z',
      seconds: 7,
      commit: 'c0ffee0',
    })
    expect(JSON.stringify(experiments)).not.toMatch(/ada|laptop|example\.org|secret-argument/)
  })

  test('what the runs say they are about is the objective', async () => {
    const goal = (name: string, goal: number, summary: readonly (readonly [number, number])[]) =>
      message([12, message([1, name], [8, goal], [7, message(...summary)])])
    const read = async (more: readonly Uint8Array[]) => {
      logged({ id: 'a1', history: [{ loss: '0.5', acc: '0.1' }], more })
      const [experiment] = await readWandbFolder(folder, {})
      return { objective: experiment!.objective, guesses: experiment!.guesses }
    }
    expect(await read([goal('acc', 2, [])])).toEqual({ objective: { name: 'acc', direction: 'maximize' }, guesses: [] })
    expect(await read([goal('loss', 1, [[4, 1]])])).toMatchObject({
      objective: { name: 'loss.best', direction: 'minimize' },
    })
    expect(await read([goal('loss', 0, [[1, 1]])])).toEqual({
      objective: { name: 'loss.min', direction: 'minimize' },
      guesses: ['the metric is loss.min: of loss alone the runs keep the lowest value'],
    })
    expect(await read([goal('acc', 2, []), goal('loss', 1, [])])).toEqual({ objective: null, guesses: [] })
  })

  test('a run that was resumed has two folders and is one run', async () => {
    logged({ id: 'a1', config: { lr: '0.1', epochs: '5' }, history: [{ loss: '0.3' }, { loss: '0.5' }], exit: null })
    logged({ id: 'a1', config: { epochs: '9' }, history: [{ loss: '0.4' }], start: 1_700_009_000 }, '20231115_000000')
    const [experiment] = await readWandbFolder(folder, { metric: { name: 'loss:min' } })
    expect(experiment!.runs).toHaveLength(1)
    expect(experiment!.runs[0]).toMatchObject({
      kind: 'finished',
      configuration: { lr: 0.1, epochs: 9 },
      metrics: { loss: 0.4, 'loss:min': 0.3 },
      startedAt: '2023-11-14T22:13:20.500Z',
    })
  })

  test('files alone have configuration, summary, commit and start, and do not say how it ended', async () => {
    const summary =
      '{"loss": 0.25, "eval": {"acc": 0.5}, "bad": NaN, "_runtime": 12.5, "_step": 9, "_wandb": {"runtime": 12}}'
    synced('a1', { 'config.yaml': config, 'wandb-summary.json': summary, 'wandb-metadata.json': metadata })
    const [experiment] = await readWandbFolder(join(folder, 'wandb'), {})
    expect(experiment).toMatchObject({
      name: null,
      guesses: ['1 runs have no log that says how they ended: they count as finished'],
    })
    expect(experiment!.runs[0]).toMatchObject({
      id: 'a1',
      kind: 'finished',
      configuration: {
        betas: [0.9, 0.99],
        eval_betas: [0.9, 0.99],
        model: { depth: 4, note: "it's: quoted" },
        lr: 0.001,
      },
      metrics: { loss: 0.25, 'eval.acc': 0.5 },
      notFinite: ['bad'],
      startedAt: '2023-11-14T22:13:20.000Z',
      seconds: 12.5,
      commit: 'c0ffee0',
    })
    expect(JSON.stringify(experiment)).not.toMatch(/ada|laptop|example\.org|secret-argument/)
    const [kept] = await readWandbFolder(folder, { keepPersonal: true })
    expect(kept!.runs[0]!.note).toBe(
      'email: ada@example.org; host: adas-laptop; username: ada; program: /home/ada/train.py; args: ["--secret-argument"]',
    )
  })

  test('a newer configuration has the commit in it, and a folder may have another name', async () => {
    const place = join(folder, 'best-run')
    mkdirSync(join(place, 'files'), { recursive: true })
    const newer = `_wandb:
    value:
        e:
            2pbgb5l6dai28naqn9vm377hbbn0yi2v:
                args:
                    - --secret-argument
                git:
                    commit: c0ffee0
                    remote: git@example.org:ada/bread.git
                host: adas-laptop
                startedAt: "2023-11-14T22:13:20.000000Z"
        t:
            "1":
                - 2
image_size:
    value:
        - 224
        - 224
lr:
    value: 1e-05
`
    writeFileSync(join(place, 'files', 'config.yaml'), newer)
    writeFileSync(
      join(place, 'files', 'wandb-summary.json'),
      '{"loss": 0.5, "graph": {"_type": "graph-file", "size": 991}}',
    )
    const [experiment] = await readWandbFolder(place, {})
    expect(experiment!.runs).toMatchObject([
      {
        id: 'best-run',
        configuration: { image_size: [224, 224], lr: 0.00001 },
        metrics: { loss: 0.5 },
        commit: 'c0ffee0',
        startedAt: '2023-11-14T22:13:20.000Z',
      },
    ])
    expect(JSON.stringify(experiment)).not.toMatch(/ada|laptop|example\.org|secret-argument/)
  })

  test('files that cannot be read are named, unless the log has it all', async () => {
    synced('a1', { 'config.yaml': 'lr: {value: 1', 'wandb-summary.json': '{}' })
    synced('b2', { 'config.yaml': config, 'wandb-summary.json': '{"loss": ' })
    const place = logged({ id: 'c3', config: { lr: '0.1' }, history: [{ loss: '1' }] })
    writeFileSync(join(place, 'files', 'config.yaml'), '"')
    const experiments = await readWandbFolder(folder, {})
    expect(experiments[0]!.runs.map(run => run.id)).toEqual(['c3'])
    expect(experiments[0]!.unusable.map(({ reason }) => reason)).toEqual([
      'its config.yaml cannot be read: Flow map in block collection must be sufficiently indented and end with a } at line 1, column 14',
      expect.stringMatching(/^its wandb-summary.json cannot be read: /),
    ])
    const alone = join(folder, 'wandb', 'run-20231114_221320-a1')
    await expect(readWandbFolder(alone, {})).rejects.toThrow(
      'run-20231114_221320-a1 has no run that can be read: run-20231114_221320-a1 its config.yaml cannot be read',
    )
  })

  test('what lies outside through a link is not read', async () => {
    logged({ id: 'a1', history: [{ loss: '1' }] })
    const outside = join(folder, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'config.yaml'), config)
    const place = join(folder, 'wandb', 'run-20231114_221320-zz')
    mkdirSync(join(place, 'files'), { recursive: true })
    symlinkSync(join(outside, 'config.yaml'), join(place, 'files', 'config.yaml'))
    const [experiment] = await readWandbFolder(folder, {})
    expect(experiment!.runs.map(run => run.id)).toEqual(['a1'])
    expect(experiment!.unusable).toMatchObject([
      { place: 'run-20231114_221320-zz', reason: 'has neither a log nor files' },
    ])
  })

  test('a run that is being written is left for later', async () => {
    const place = logged({ id: 'a1', exit: null })
    utimesSync(join(place, 'run-a1.wandb'), new Date(), new Date())
    const [experiment] = await readWandbFolder(folder, {})
    expect(experiment).toMatchObject({
      runs: [],
      unusable: [{ place: 'run a1', reason: 'has not ended: W&B says running' }],
    })
  })

  test('import as a history, with the log alone as well', async () => {
    const history = [{ loss: '0.5' }]
    logged({ id: 'a1', config: { lr: '0.1', seed: '1' }, history })
    logged({ id: 'b2', config: { lr: '0.1', seed: '2' }, history: [{ loss: '0.6' }], start: 1_700_000_100 })
    logged({ id: 'c3', config: { lr: '0.3', seed: '1' }, history: [{ loss: 'NaN' }], start: 1_700_000_200 })
    const { importer, histories } = await readSource(sourceOf('.', folder), {})
    expect(importer.name).toBe('wandb')
    expect(histories[0]).toMatchObject({ name: 'bread', metrics: [{ name: 'loss', direction: 'minimize' }] })
    expect(histories[0]!.rows.map(({ role, seed, outcome }) => [role, seed, outcome.kind])).toEqual([
      ['reference', 1, 'finished'],
      ['reference', 2, 'finished'],
      ['tried', 1, 'diverged'],
    ])
    const path = join('wandb', 'offline-run-20231114_221320-a1', 'run-a1.wandb')
    const alone = await readSource(sourceOf(path, folder), {})
    expect(alone.histories[0]!.rows).toHaveLength(1)
  })
})
