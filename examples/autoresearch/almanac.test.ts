/**
 * The example and its history, and then the whole path in a repository of this shape, by the command line: init, import, forecast,
 * run, promote, forecast again, records, report. The program trains for real.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { almanac, almanacJson } from '../../src/command-line.ts'
import { attachDiffs } from '../../src/importers/commit-diffs.ts'
import { readResultsTsv } from '../../src/importers/results-tsv.ts'
import { openRepository } from '../../src/repository/repository.ts'

const here = import.meta.dirname
let parent = ''
let folder = ''
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), 'almanac-path-'))
  folder = join(parent, 'research')
  // The same program with a fifth of the training: it ranks these ideas alike.
  const example = join(parent, 'example')
  cpSync(here, example, { recursive: true })
  const source = readFileSync(join(example, 'prepare.js'), 'utf8')
  expect(source).toContain('TRAINING_BYTES = 80_000')
  writeFileSync(join(example, 'prepare.js'), source.replace('80_000', '16_000'))
  execFileSync(process.execPath, [join(example, 'make-history.js'), folder, '--ideas', '4'])
})
afterAll(() => rmSync(parent, { recursive: true, force: true }))

const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' })

function edit(from: string, to: string): void {
  const source = readFileSync(join(folder, 'train.js'), 'utf8')
  expect(source).toContain(from)
  writeFileSync(join(folder, 'train.js'), source.replace(from, to))
}

/** What git says of the user's tree, index, refs and worktrees. */
function state(): string {
  return [
    git('status', '--porcelain'),
    git('diff'),
    git('diff', '--cached'),
    git('rev-parse', 'HEAD'),
    git('for-each-ref', 'refs/heads'),
    git('worktree', 'list'),
    readFileSync(join(folder, 'notes.md'), 'utf8'),
  ].join('\n')
}

interface Forecasts {
  readonly records: number
  readonly forecasts: { sentence: string; median: number; low: number; high: number; changes: { option: string }[] }[]
}
interface Measured {
  readonly record: number
  readonly version: string
  readonly verdict: string | null
  readonly measured: { gain: number; standardError: number; probabilityBetter: number } | null
  readonly forecast: { median: number } | null
  readonly changes: { option: string; from: unknown; to: unknown }[]
}

const bpb = (output: string) => Number(/^val_bpb:\s+([0-9.]+)$/m.exec(output)![1])
const train = (cwd: string, ...words: string[]) =>
  execFileSync(process.execPath, ['train.js', ...words], { cwd, encoding: 'utf8' })

describe('the model', () => {
  test('learns: far better than the frequencies of the bytes, and the same again with the same seed', () => {
    const text = readFileSync(join(here, 'data', 'moby-dick.txt'))
    const counts = new Map<number, number>()
    for (const byte of text) counts.set(byte, (counts.get(byte) ?? 0) + 1)
    const entropy = -[...counts.values()].reduce((sum, n) => sum + (n / text.length) * Math.log2(n / text.length), 0)
    const once = bpb(train(here, '--seed', '7'))
    expect(once).toBeLessThan(entropy - 0.7)
    expect(bpb(train(here, '--seed', '7'))).toBe(once)
    expect(bpb(train(here, '--seed', '8'))).not.toBe(once)
  })

  test('a batch that does not divide the training, or a seed that is no number, is refused', () => {
    const copy = join(parent, 'copy')
    cpSync(here, copy, { recursive: true })
    expect(spawnSync(process.execPath, ['train.js', '--seed', 'x'], { cwd: copy, encoding: 'utf8' }).stderr).toContain(
      '--seed takes',
    )
    const source = readFileSync(join(copy, 'train.js'), 'utf8')
    writeFileSync(join(copy, 'train.js'), source.replace('BATCH_SIZE = 64', 'BATCH_SIZE = 48'))
    const refused = spawnSync(process.execPath, ['train.js'], { cwd: copy, encoding: 'utf8' })
    expect(refused.status).not.toBe(0)
    expect(refused.stderr).toContain('BATCH_SIZE 48 does not divide')
  })
})

describe('its history', () => {
  test('is what the loop leaves: kept commits in git with their diffs, discarded ones gone', async () => {
    const text = readFileSync(join(folder, 'results.tsv'), 'utf8')
    const log = readResultsTsv(text, 'results.tsv')
    expect(log.unusable).toEqual([])
    expect(log.rows.map(({ role, outcome }) => `${role} ${outcome.kind}`)).toEqual([
      'reference finished',
      'kept finished',
      'tried finished',
      'kept finished',
      'tried crashed',
    ])
    const { history, missing } = await attachDiffs(log, await openRepository(folder))
    expect(history.rows.map(({ intervention }) => intervention.diff !== null)).toEqual([
      false,
      true,
      false,
      true,
      false,
    ])
    expect(missing.map(({ place }) => place)).toEqual(['line 4', 'line 6'])
    expect(execFileSync('git', ['status', '--short'], { cwd: folder, encoding: 'utf8' })).toBe('?? results.tsv\n')
  })

  test('its numbers are what the program prints for that code', () => {
    const last = readFileSync(join(folder, 'results.tsv'), 'utf8')
      .trim()
      .split('\n')
      .filter(row => row.includes('\tkeep\t'))
      .at(-1)!
    expect(bpb(train(folder))).toBe(Number(last.split('\t')[1]))
  })
})

test('init finds everything, import twice is import once', async () => {
  const { code, output } = await almanac(folder, 'init', '--yes')
  expect(code).toBe(0)
  expect(output).toContain('almanac import results.tsv')
  const text = readFileSync(join(folder, 'almanac.config.ts'), 'utf8')
  for (const found of ['node train.js --seed {seed}', 'val_bpb', 'minimize', 'results.tsv', 'prepare.js', 'HEAD']) {
    expect(text).toContain(found)
  }
  const again = await almanac(folder, 'init', '--yes')
  expect({ code: again.code, errors: again.errors }).toEqual({
    code: 2,
    errors: 'almanac: almanac.config.ts is there already; edit it, or replace it with --force.\n',
  })

  const first = await almanacJson<{ added: number; withoutCode: { place: string }[] }>(folder, 'import')
  expect(first).toMatchObject({ added: 5, known: 0, unusable: [] })
  expect(first.withoutCode.map(({ place }) => place)).toEqual(['line 4', 'line 6'])
  const before = await almanacJson(folder, 'records')
  expect(await almanacJson(folder, 'import')).toMatchObject({ added: 0, known: 5 })
  expect(await almanacJson(folder, 'records')).toEqual(before)
})

test('forecasts of sentences, the dirty tree, a patch and a branch', async () => {
  const nothing = await almanac(folder, 'forecast')
  expect(nothing.code).toBe(3)
  expect(nothing.errors).toContain('the working tree equals the reference')

  const sentences = await almanacJson<Forecasts>(folder, 'forecast', 'halve the batch', 'anneal to zero')
  expect(sentences).toMatchObject({ records: 4 })
  expect(sentences.forecasts).toHaveLength(2)
  for (const { low, median, high } of sentences.forecasts) expect(low < median && median < high).toBe(true)

  edit('const CONTEXT = 4', 'const CONTEXT = 5')
  const dirty = await almanacJson<Forecasts>(folder, 'forecast')
  expect(dirty.forecasts[0]!.changes).toEqual([{ option: 'train.js:CONTEXT', from: 4, to: 5 }])
  writeFileSync(join(parent, 'context.patch'), git('diff'))
  git('checkout', '-q', '-b', 'wider')
  git('commit', '-q', '-a', '-m', 'look back 5 bytes')
  git('checkout', '-q', 'autoresearch/first-night')
  for (const flags of [
    ['--patch', '../context.patch'],
    ['--branch', 'wider'],
  ]) {
    const { forecasts } = await almanacJson<Forecasts>(folder, 'forecast', ...flags)
    expect({ ...forecasts[0], sentence: '' }).toEqual({ ...dirty.forecasts[0], sentence: '' })
  }
})

test('run, promote, and forecast again against the new reference; the tree stays as it was', async () => {
  edit('const CONTEXT = 4', 'const CONTEXT = 5')
  git('add', 'train.js')
  edit('const CONTEXT = 5 // bytes seen', 'const CONTEXT = 5 // bytes looked at')
  writeFileSync(join(folder, 'notes.md'), 'an untracked note\n')
  const before = state()

  const run = await almanacJson<Measured>(
    folder,
    'run',
    '-m',
    'look back 5 bytes instead of 4',
    '--seeds',
    '2',
    '--concurrency',
    '2',
  )
  expect(state()).toBe(before)
  expect(run.measured!.standardError).toBeGreaterThan(0)
  expect(['better', 'inconclusive', 'worse']).toContain(run.verdict)
  expect(run.changes).toContainEqual({ option: 'train.js:CONTEXT', from: 4, to: 5 })
  expect(run.forecast).not.toBeNull()
  expect(forecastBeforeFirstRun(run.record)).toBe(true)
  const repeated = await almanac(folder, 'run', '-m', 'the same again')
  expect(repeated.code).toBe(3)
  expect(repeated.errors).toContain(`This was run before (record ${run.record})`)

  const promoted = await almanacJson<{ version: string; commit: string; ref: string; before: number; after: number }>(
    folder,
    ...['promote', String(run.record), '--anyway', '--concurrency', '2'],
  )
  expect(state()).toBe(before)
  expect(git('rev-parse', promoted.ref).trim()).toBe(promoted.commit)
  expect(git('show', `${promoted.ref}:train.js`)).toBe(readFileSync(join(folder, 'train.js'), 'utf8'))
  const { records } = await almanacJson<{ records: Measured[] }>(folder, 'records')
  expect(records.find(({ record }) => record === run.record)!.measured).toEqual(run.measured)
  expect(seedsOf(promoted.version).filter(seed => seedsOf(run.version, run.record).includes(seed))).toEqual([])

  edit('const HIDDEN = 32', 'const HIDDEN = 40')
  const next = await almanacJson<Forecasts>(folder, 'forecast')
  expect(next.records).toBe(5)
  expect(next.forecasts[0]!.changes).toEqual([{ option: 'train.js:HIDDEN', from: 32, to: 40 }])
})

test('records can be filtered and sorted, and the report stands alone', async () => {
  const table = await almanac(folder, 'records', '--sort', 'gain', '--outcome', 'finished')
  expect(table.code).toBe(0)
  expect(table.output).toMatch(/^ *# {2}candidate/)
  expect(table.output).toContain('look back 5 bytes instead of 4')
  expect(table.output).not.toContain('batch of 48')
  const { path } = await almanacJson<{ path: string }>(folder, 'report')
  const html = readFileSync(path, 'utf8')
  expect(html).toContain('look back 5 bytes instead of 4')
  expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/)
  expect(existsSync(join(folder, '.almanac', '.gitignore'))).toBe(true)
})

function query(sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
  const database = new DatabaseSync(join(folder, '.almanac', 'ledger.db'), { readOnly: true })
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}

function forecastBeforeFirstRun(record: number): boolean {
  const [row] = query(
    'select (select max(made_at) from forecasts where intervention_id = ?1) <= (select min(claimed_at) from runs where intervention_id = ?1) as before',
    record,
  )
  return row!['before'] === 1
}

/** Seeds that were run for the reference of a version, or for a record of it. */
function seedsOf(version: string, record?: number): number[] {
  const rows = query(
    `select seed from runs join interventions on interventions.id = intervention_id
     where version_id like ? || '%' and claimant_pid is not null and ${record === undefined ? "kind = 'reference'" : 'interventions.id = ?'}`,
    ...(record === undefined ? [version] : [version, record]),
  )
  expect(rows.length).toBeGreaterThan(0)
  return rows.map(({ seed }) => Number(seed))
}
