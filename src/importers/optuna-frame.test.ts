import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { optuna } from './optuna.ts'
import { isOptunaFrame, readOptunaFrame } from './optuna-frame.ts'

const folder = mkdtempSync(join(tmpdir(), 'optuna-frame-'))
afterAll(() => rmSync(folder, { recursive: true }))

const source = {
  kind: 'file',
  path: join(import.meta.dirname, 'fixtures', 'optuna-trials.csv'),
  name: 'trials.csv',
} as const
const written = (text: string) => {
  writeFileSync(join(folder, 'trials.csv'), text)
  return { kind: 'file', path: join(folder, 'trials.csv'), name: 'trials.csv' } as const
}

describe("Optuna's data frame of trials as CSV", () => {
  const study = readOptunaFrame(source, {})

  test('has the objective by name, and no direction', () => {
    expect(study).toMatchObject({ name: null, objective: { name: 'accuracy', direction: null } })
  })

  test('cells are the values that Python had', () => {
    expect(study.runs[0]).toMatchObject({
      place: 'trial 0',
      configuration: { layers: 2, lr: 0.1, optimizer: 'adam', relu: true },
      kind: 'finished',
      metrics: { accuracy: 0.9 },
      note: 'comment: slow, at first',
      seed: 7,
      seconds: 90.5,
      startedAt: null,
    })
    expect(study.runs[2]!.configuration).toEqual({ lr: 0.3, optimizer: 'sgd', relu: false })
  })

  test('trials end as in the storages', () => {
    expect(study.runs.map(({ kind, metrics }) => [kind, metrics])).toEqual([
      ['finished', { accuracy: 0.9 }],
      ['timed-out', {}],
      ['finished', {}],
      ['infrastructure', {}],
      ['violated', { accuracy: 0.95 }],
    ])
    expect(study.runs[2]!.notFinite).toEqual(['accuracy'])
    expect(study.unusable.map(({ place }) => place)).toEqual(['trial 5'])
  })

  test('several objectives without names', () => {
    const frame = written('number,values_0,values_1,datetime_start,params_x,state\n0,1.5,2,,0.5,COMPLETE\n')
    expect(readOptunaFrame(frame, {}).runs[0]!.metrics).toEqual({ values_0: 1.5, values_1: 2 })
    expect(readOptunaFrame(frame, {}).objective!.name).toBe('values_0')
  })

  test('is recognised by its columns; other tables are not', async () => {
    expect(await optuna.recognises(source)).toBe(true)
    const [history] = await optuna.read(source, {})
    expect(history!.metrics[0]).toMatchObject({ name: 'accuracy', direction: 'maximize', guessed: true })
    expect(isOptunaFrame(written('number,value,state\n'))).toBe(false)
    expect(isOptunaFrame(written('number,datetime_start,state,valued\n'))).toBe(false)
  })
})
