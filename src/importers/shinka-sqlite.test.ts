import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { changedLiterals } from '../experiment/diff-options.ts'
import { readShinka, shinkaSqlite } from './shinka-sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'shinka-'))
afterAll(() => rmSync(folder, { recursive: true }))

const source = { kind: 'file', path: join(folder, 'programs.sqlite'), name: 'programs.sqlite' } as const
{
  using made = new DatabaseSync(source.path)
  const sql = readFileSync(join(import.meta.dirname, 'fixtures', 'shinka.sql'), 'utf8')
  made.exec(`pragma journal_mode = wal; pragma synchronous = off; begin; ${sql} commit`)
}
const evolution = readShinka(source)
const program = (number: number) => evolution.runs.find(({ id }) => id.startsWith(`0000000${number}`))!

describe("ShinkaEvolve's database", () => {
  test('the first program is the baseline, and its score is to be raised', () => {
    expect(evolution.objective).toEqual({ name: 'combined_score', direction: 'maximize' })
    expect(program(0)).toMatchObject({
      kind: 'finished',
      status: 'correct',
      isBaseline: true,
      parent: null,
      diff: null,
      metrics: { combined_score: 1.5, ratio: 0.5, hidden: 2 },
      text: 'initial program: Initial program setup',
      finishedAt: '2025-11-01T10:00:00.000Z',
      seconds: 3.5,
      tags: ['init'],
    })
  })

  test('copies for other islands are no runs, and their children are children of the original', () => {
    const copies = evolution.unusable.filter(({ reason }) => reason.includes('copy'))
    expect(copies.map(({ place, reason }) => [place, reason])).toEqual([
      ['program 00000001', 'is a copy of program 00000000, not a run of its own'],
      ['program 00000007', 'is a copy of program 00000002, not a run of its own'],
    ])
    expect(program(2)).toMatchObject({ parent: '00000000-first', seconds: 4.5, note: 'Looks fine.' })
    expect(program(2).text).toBe('smaller steps: Halve the step.')
    expect(changedLiterals(program(2).diff!)).toEqual([{ option: 'main.py:step', from: 1, to: 0.5 }])
  })

  test('a program that is not correct broke a rule if it has a score, and crashed if it has none', () => {
    expect(program(3)).toMatchObject({ kind: 'crashed', reason: 'NameError: x', metrics: {} })
    expect(program(4)).toMatchObject({
      kind: 'violated',
      reason: 'Circles overlap.',
      metrics: { combined_score: 2.5, ratio: 9 },
    })
  })

  test('a repair is compared with what worked before', () => {
    expect(program(5)).toMatchObject({ parent: '00000002-better', metrics: { combined_score: 1.8 } })
    expect(program(5).text).toBe('variable; then: fix: Name the variable.')
  })

  test('a proposal that never became a program was not run', () => {
    const [failed] = evolution.unusable.filter(({ place }) => place === 'program 00000006')
    expect(failed!.reason).toBe('was not run: no patch could be applied')
  })

  test('what has no score although it is correct has diverged; words that are no JSON do no harm', () => {
    expect(program(8)).toMatchObject({ kind: 'diverged', metrics: {}, text: null, parent: '00000002-better' })
  })

  test('it is recognised, and read as a history of changes', async () => {
    expect(await shinkaSqlite.recognises(source)).toBe(true)
    const [history] = await shinkaSqlite.read(source, {})
    const rows = new Map(history!.rows.map(row => [row.place, row]))
    expect(rows.get('program 00000000')!.role).toBe('reference')
    expect(rows.get('program 00000005')!.against).toBe(rows.get('program 00000002')!.key)
    expect(history!.rows.length + history!.unusable.length).toBe(9)
    expect(history!.guesses).toEqual([])
  })
})
