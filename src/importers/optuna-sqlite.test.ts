import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { optuna } from './optuna.ts'
import { isOptunaSqlite, readOptunaSqlite } from './optuna-sqlite.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'optuna-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

function database(name: string, change = ''): string {
  const path = join(folder, `${name}${change.length}.db`)
  using made = new DatabaseSync(path)
  const sql = readFileSync(join(import.meta.dirname, 'fixtures', `${name}.sql`), 'utf8')
  made.exec(`pragma synchronous = off; begin; ${sql}${change} commit`)
  return path
}

const path = database('optuna-12')
const studies = readOptunaSqlite(path, {})
const [mnist, pair] = studies
const trial = (number: number) => mnist!.runs.find(({ id }) => id === String(number))!

describe("Optuna's SQLite storage", () => {
  test('each study with trials is an environment, with its own direction and names', () => {
    expect(studies.map(({ name }) => name)).toEqual(['mnist', 'size and speed'])
    expect(mnist!.objective).toEqual({ name: 'accuracy', direction: 'maximize' })
    expect(mnist!.description).toBe('data: mnist; folds: 5')
  })

  test('a trial that completed, with its parameters as the objective saw them', () => {
    expect(trial(0)).toMatchObject({
      place: 'trial 0',
      configuration: { lr: 0.1, optimizer: 'sgd', layers: 2 },
      kind: 'finished',
      status: 'COMPLETE',
      reason: null,
      seed: 7,
      metrics: { accuracy: 0.9, train_accuracy: 0.97 },
      note: 'comment: slow start',
      startedAt: '2026-11-01T10:00:00.000Z',
      finishedAt: '2026-11-01T10:01:30.500Z',
      seconds: 90.5,
    })
  })

  test('the number of a categorical parameter is the index of its choice', () => {
    expect(trial(1).configuration).toEqual({ lr: 0.2, optimizer: 'adam', layers: 3 })
  })

  test('a user attribute that is NaN is no metric, and is named as none', () => {
    expect(trial(1).metrics).toEqual({ accuracy: 0.92 })
    expect(trial(1).notFinite).toEqual(['worst_fold'])
  })

  test('a pruned trial did not finish, and the value stored for it is not its result', () => {
    expect(trial(2)).toMatchObject({ kind: 'timed-out', status: 'PRUNED', metrics: {} })
    expect(trial(2).reason).toBe('pruned after step 10, where it reported 0.4: stopped early for being behind')
  })

  test('a trial that failed before it asked for anything has what was enqueued for it', () => {
    expect(trial(3)).toMatchObject({ kind: 'crashed', configuration: { lr: 0.6 } })
  })

  test('an infinite value is no value', () => {
    expect(trial(4)).toMatchObject({ metrics: {}, notFinite: ['accuracy'] })
  })

  test('a trial whose process died and that was tried again says nothing about the idea', () => {
    expect(trial(7)).toMatchObject({ kind: 'infrastructure' })
    expect(trial(8)).toMatchObject({ kind: 'finished', metrics: { accuracy: 0.95 } })
  })

  test('a constraint above 0 is broken, and the number is kept', () => {
    expect(trial(1).kind).toBe('finished')
    expect(trial(10)).toMatchObject({
      kind: 'violated',
      reason: 'constraint 1 is 0.25, and it is broken above 0',
      metrics: { accuracy: 0.99 },
    })
  })

  test('what was not run, has not ended or says nothing is left out with the reason', () => {
    expect(mnist!.unusable.map(({ place, reason }) => [place, reason])).toEqual([
      ['trial 5', 'was not run: it still waits'],
      ['trial 6', 'had not ended when this was written'],
      ['trial 9', 'has no parameters: nothing says what was tried'],
    ])
    expect(mnist!.runs.length + mnist!.unusable.length).toBe(11)
  })

  test('of several objectives the first counts, by its number and not by its row', () => {
    expect(pair!.objective).toEqual({ name: 'values_0', direction: 'minimize' })
    expect(pair!.runs.map(({ metrics }) => metrics)).toEqual([
      { values_0: 8.5, values_1: 120 },
      { values_0: 4.25, values_1: 240 },
    ])
    expect(pair!.guesses).toEqual(['the objective values_0: it is the first of 2; values_1 are kept beside it'])
  })

  test('another objective that is asked for has its own direction', () => {
    const [, asked] = readOptunaSqlite(path, { metric: { name: 'values_1' } })
    expect(asked!.objective).toEqual({ name: 'values_1', direction: 'maximize' })
  })

  test('a database of before 2.4: direction and value in columns, moments without a zone', () => {
    const [old] = readOptunaSqlite(database('optuna-2.3'), {})
    expect(old!.objective).toEqual({ name: 'value', direction: 'minimize' })
    expect(old!.runs.map(({ kind, metrics, reason }) => [kind, metrics, reason])).toEqual([
      ['finished', { value: 1.5 }, null],
      ['timed-out', {}, 'pruned after step 1, where it reported 9: stopped early for being behind'],
      ['crashed', {}, 'failed: ValueError: lr'],
    ])
    expect(old!.runs[0]!.configuration).toEqual({ lr: 0.1, units: 32, batch: 64 })
    expect(old!.runs[0]).toMatchObject({ startedAt: null, finishedAt: null, seconds: 30 })
  })

  test('a database that has no column for the number counts the trials', () => {
    const older = database('optuna-2.3', 'alter table trials drop column number;')
    expect(readOptunaSqlite(older, {})[0]!.runs.map(({ place }) => place)).toEqual(['trial 0', 'trial 1', 'trial 2'])
  })

  test('a trial with a choice that is not there, or a broken distribution, is unusable; the others are read', () => {
    const damage = (trial: number, change: string) =>
      `update trial_params set ${change} where param_name = 'optimizer' and trial_id = ${trial};`
    const broken = `{"name": "CategoricalDistribution", "attributes": {`
    const [study] = readOptunaSqlite(
      database('optuna-12', damage(1, 'param_value = 3.0') + damage(2, `distribution_json = '${broken}'`)),
      {},
    )
    const reasons = study!.unusable.map(({ place, reason }) => `${place}: ${reason}`)
    expect(reasons).toContain('trial 0: the parameter optimizer has choice 3, but there are 3')
    expect(reasons).toContain(`trial 1: the distribution of the parameter optimizer is broken: ${broken}`)
    expect(study!.runs.length).toBe(mnist!.runs.length - 2)
  })

  test('an integer that no number holds exactly does not end the reading of the others', () => {
    const [study] = readOptunaSqlite(
      database('optuna-12', "update trial_params set param_value = 9223372036854775807 where param_name = 'layers';"),
      {},
    )
    expect(study!.runs.map(({ id }) => id)).toEqual(mnist!.runs.map(({ id }) => id))
  })

  test('it is recognised, and read as histories', async () => {
    const source = sourceOf(path, folder)
    expect(isOptunaSqlite(path)).toBe(true)
    expect(await optuna.recognises(source)).toBe(true)
    const histories = await optuna.read(source, {})
    expect(histories.map(({ name }) => name)).toEqual(['mnist', 'size and speed'])
    const outcomes = histories[0]!.rows.map(({ outcome, role }) => `${role} ${outcome.kind}`)
    expect(outcomes).toContain('reference finished')
    expect(outcomes).toContain('tried diverged')
    expect(histories[0]!.rows[1]!.intervention).toMatchObject({
      sentence: 'lr 0.1 → 0.2, optimizer sgd → adam, layers 2 → 3',
      overrides: { lr: 0.2, optimizer: 'adam', layers: 3 },
    })
  })
})
