import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { sourceOf } from './source.ts'
import { readTrackio, trackio } from './trackio-sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'trackio-'))
afterAll(() => rmSync(folder, { recursive: true }))

function database(fixture: string, name: string): void {
  using made = new DatabaseSync(join(folder, name))
  const sql = readFileSync(join(import.meta.dirname, 'fixtures', `${fixture}.sql`), 'utf8')
  made.exec(`pragma journal_mode = wal; pragma synchronous = off; begin; ${sql} commit`)
}
database('trackio', 'mnist.db')
database('trackio-old', 'older.db')
const source = (name: string) => ({ kind: 'file', path: join(folder, name), name }) as const

const [project] = readTrackio(source('mnist.db'), {})
const run = (id: string) => project!.runs.find(each => each.id.startsWith(id))!

describe("Trackio's databases", () => {
  test('a run has its configuration, without what Trackio adds to it', () => {
    expect(project!.name).toBe('mnist')
    expect(run('aaaa')).toMatchObject({
      name: 'first',
      configuration: { lr: 0.1, model: { depth: 2 }, seed: 4 },
      tags: ['baseline'],
      startedAt: '2026-11-01T10:00:00.000Z',
      finishedAt: '2026-11-01T10:00:04.000Z',
      seconds: 4,
    })
    expect(JSON.stringify(project)).not.toContain('alice')
  })

  test('a metric is its value at the last step that has it, in whatever order steps were written', () => {
    expect(run('aaaa').metrics).toEqual({ val_loss: 1.5, acc: 0.3, lr: 0.1 })
  })

  test('the best value along a run is there where it is asked for', () => {
    const [asked] = readTrackio(source('mnist.db'), { metric: { name: 'val_loss:min' } })
    expect(asked!.runs.map(({ metrics }) => metrics['val_loss:min'])).toEqual([1.25, 3, 0.5, 1])
    expect(asked!.objective).toEqual({ name: 'val_loss:min', direction: null })
  })

  test('a last value that is not finite is none', () => {
    expect(run('cccc')).toMatchObject({ metrics: { acc: 0.2 }, notFinite: ['val_loss'] })
    expect(run('cccc').configuration).toMatchObject({ lr: 'Infinity' })
    expect(run('7777')).toMatchObject({ metrics: { val_loss: 1 }, notFinite: ['acc'] })
  })

  test('runs of one name are told apart by their ids', () => {
    expect(project!.runs.filter(({ name }) => name === 'first').map(({ place }) => place)).toEqual([
      'run first (aaaa1111)',
      'run first (eeee3333)',
    ])
    expect(run('eeee').configuration).toEqual({})
  })

  test('alerts are notes', () => {
    expect(run('cccc').note).toBe('alert (error): Loss is NaN: stopped by hand')
  })

  test('a run without a number is left out with the reason', () => {
    expect(project!.unusable.map(({ place, reason }) => [place, reason])).toEqual([
      ['run words (99994444)', 'logged no number'],
    ])
  })

  test('it says that it does not know how runs ended, and which are much shorter than the others', () => {
    expect(project!.guesses).toEqual([
      'how runs ended: Trackio does not keep it, so those that logged a number count as finished',
      'first: counted as finished, although they have less than half of the 4 steps that is usual here',
    ])
  })

  test('a database without ids of runs goes by their names; moments without a zone are none', () => {
    const [old] = readTrackio(source('older.db'), {})
    expect(
      old!.runs.map(({ id, place, configuration, metrics, startedAt }) => [
        id,
        place,
        configuration,
        metrics,
        startedAt,
      ]),
    ).toEqual([
      ['run-0', 'run-0', { lr: 0.1 }, { loss: 2 }, null],
      ['run-1', 'run-1', { lr: 0.2 }, { loss: 1 }, null],
    ])
  })

  test('a folder of projects is recognised and read whole, and nothing appears in it', async () => {
    const before = readdirSync(folder)
    const found = sourceOf(folder, '/')
    expect(await trackio.recognises(found)).toBe(true)
    const histories = await trackio.read(found, {})
    expect(histories.map(({ name }) => name)).toEqual(['mnist', 'older'])
    expect(histories[0]!.metrics[0]).toMatchObject({ name: 'val_loss', direction: 'minimize' })
    expect(histories[0]!.rows.map(({ role, outcome }) => `${role} ${outcome.kind}`)).toContain('tried diverged')
    expect(readdirSync(folder)).toEqual(before)
  })

  test('an export in parquet is recognised, and refused with what to do', async () => {
    const exported = join(folder, 'export')
    mkdirSync(exported)
    writeFileSync(join(exported, 'metrics.parquet'), 'PAR1')
    writeFileSync(join(exported, 'runs.json'), '{}')
    const found = sourceOf(exported, '/')
    expect(await trackio.recognises(found)).toBe(true)
    await expect(trackio.read(found, {})).rejects.toThrow(
      "export is an export of Trackio in parquet, which is not read; import the project's database instead",
    )
  })
})
