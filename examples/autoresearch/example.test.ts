import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attachDiffs } from '../../src/importers/commit-diffs.ts'
import { readResultsTsv } from '../../src/importers/results-tsv.ts'
import { openRepository } from '../../src/repository/repository.ts'

const here = import.meta.dirname
let folder: string
let past: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-autoresearch-'))
  past = join(folder, 'past')
  execFileSync(process.execPath, [join(here, 'make-history.js'), past, '--ideas', '4'])
})
afterAll(() => rmSync(folder, { recursive: true }))

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
    const copy = join(folder, 'copy')
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
    const text = readFileSync(join(past, 'results.tsv'), 'utf8')
    const log = readResultsTsv(text, 'results.tsv')
    expect(log.unusable).toEqual([])
    expect(log.rows.map(({ role, outcome }) => `${role} ${outcome.kind}`)).toEqual([
      'reference finished',
      'kept finished',
      'tried finished',
      'kept finished',
      'tried crashed',
    ])
    const { history, missing } = await attachDiffs(log, await openRepository(past))
    expect(history.rows.map(({ intervention }) => intervention.diff !== null)).toEqual([
      false,
      true,
      false,
      true,
      false,
    ])
    expect(missing.map(({ place }) => place)).toEqual(['line 4', 'line 6'])
    expect(execFileSync('git', ['status', '--short'], { cwd: past, encoding: 'utf8' })).toBe('?? results.tsv\n')
  })

  test('its numbers are what the program prints for that code', () => {
    const last = readFileSync(join(past, 'results.tsv'), 'utf8')
      .trim()
      .split('\n')
      .filter(row => row.includes('\tkeep\t'))
      .at(-1)!
    expect(bpb(train(past))).toBe(Number(last.split('\t')[1]))
  })
})
