import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { optuna } from './optuna.ts'
import { readOptunaJournal } from './optuna-journal.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'optuna-journal-'))
afterAll(() => rmSync(folder, { recursive: true }))

const path = join(import.meta.dirname, 'fixtures', 'optuna-journal.jsonl')
const text = readFileSync(path, 'utf8')
const read = (written: string) => {
  const file = join(folder, `${written.length}.log`)
  writeFileSync(file, written)
  return readOptunaJournal({ kind: 'file', path: file, name: 'journal.log' }, {})
}

const [study, ...others] = await readOptunaJournal({ kind: 'file', path, name: 'optuna-journal.jsonl' }, {})
const trial = (number: number) => study!.runs.find(({ id }) => id === String(number))!

describe("Optuna's journal", () => {
  test('a study that was made twice is one, and a deleted one is gone', () => {
    expect(study).toMatchObject({
      name: 'mnist',
      description: 'data: mnist',
      objective: { name: 'accuracy', direction: 'maximize' },
    })
    expect(others).toEqual([])
  })

  test("trials are known by the order in which they were made, also after a deleted study's", () => {
    expect(trial(0)).toMatchObject({
      configuration: { lr: 0.1, optimizer: 'sgd' },
      metrics: { accuracy: 0.9 },
      seed: 7,
      startedAt: '2026-11-01T10:00:00.000Z',
      finishedAt: '2026-11-01T10:01:30.500Z',
      seconds: 90.5,
    })
  })

  test('what comes after the end of a trial has no effect', () => {
    expect(trial(0)).toMatchObject({ kind: 'finished', status: 'COMPLETE', note: null })
  })

  test('the last report of a pruned trial is that of its last step', () => {
    expect(trial(1)).toMatchObject({ kind: 'timed-out', metrics: {} })
    expect(trial(1).reason).toContain('pruned after step 10, where it reported 0.4')
  })

  test('a trial that was added as a whole is read as a whole; a moment without a zone is none', () => {
    expect(trial(3)).toMatchObject({
      configuration: { lr: 0.2 },
      metrics: { accuracy: 0.95 },
      note: 'note: added by hand',
      startedAt: null,
      seconds: 1,
    })
  })

  test('an infinite value is no value', () => {
    expect(trial(4)).toMatchObject({ metrics: {}, notFinite: ['accuracy'] })
  })

  test('what waits and a last line that is cut off are listed', () => {
    expect(study!.unusable.map(({ place, reason }) => [place, reason])).toEqual([
      ['trial 2', 'was not run: it still waits'],
      ['line 28', 'is cut off: its process was stopped while it wrote'],
    ])
  })

  test('a line before the last that cannot be read is an error: later trials would be taken for others', async () => {
    const lines = text.split('\n')
    lines[8] = lines[8]!.slice(0, 30)
    await expect(read(lines.join('\n'))).rejects.toThrow(/^\d+\.log, line 9 is not an operation of an Optuna journal/)
  })

  test('a parameter that cannot be read makes its trial unusable, and no other', async () => {
    const at = text.indexOf('CategoricalDistribution')
    const torn = text.slice(0, at) + text.slice(at).replace('[', '{')
    const [damaged] = await read(torn)
    expect(damaged!.unusable[0]).toMatchObject({ place: 'trial 0' })
    expect(damaged!.unusable[0]!.reason).toMatch(/^the distribution of the parameter optimizer is broken: \{"name"/)
    expect(damaged!.runs.map(({ id }) => id)).toEqual(study!.runs.map(({ id }) => id).filter(id => id !== '0'))
  })

  test('an operation that lacks what it needs is an error that names the line', async () => {
    await expect(read('{"op_code":0,"worker_id":"a"}\n')).rejects.toThrow(/line 1 is not an operation as Optuna writes/)
  })

  test('it is recognised by its first line and read as a history', async () => {
    const source = sourceOf(path, folder)
    expect(await optuna.recognises(source)).toBe(true)
    const [history] = await optuna.read(source, {})
    expect(history!.rows.map(({ place, outcome }) => [place, outcome.kind])).toEqual([
      ['trial 0', 'finished'],
      ['trial 1', 'timed-out'],
      ['trial 3', 'finished'],
      ['trial 4', 'diverged'],
    ])
  })
})
