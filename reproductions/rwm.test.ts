import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { quickStart } from '../src/command-line.ts'
import { forecasters } from '../src/forecast/forecaster.ts'
import { groupResamples } from '../src/forecast/group-resamples.ts'
import { oracle } from '../src/forecast/planted/oracle.ts'
import { intervalOf } from '../src/statistics/bootstrap.ts'
import { alreadyMuon } from './rwm/already-muon.ts'
import { compare } from './rwm/comparison.ts'
import { partsOf } from './rwm/conditions.ts'
import { environmentRecords } from './rwm/environment-records.ts'
import { plantedRecordFile } from './rwm/planted-records.ts'

const program = fileURLToPath(new URL('rwm.ts', import.meta.url))
const files = { nanochat: plantedRecordFile('nanochat', 30, 1), olmo: plantedRecordFile('olmo', 30, 1) }
const environments = [
  environmentRecords(files.nanochat, 'nanochat.jsonl', 1),
  environmentRecords(files.olmo, 'olmo.jsonl', 1001),
] as const
const [nanochat, olmo] = environments
const records = environments.flatMap(environment => environment.records)

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-rwm-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const options = { pools: 40, splits: 2, seed: 1, resamples: groupResamples(records, 10, 1) }

test('the program writes the same page and picture each time, with every forecaster in every condition', () => {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.jsonl`), text)
  const flags = ['--pools', '10', '--splits', '1', '--resamples', '5', '--repeats', '1']
  const outputs = ['first', 'second'].map(name => {
    const out = join(folder, name)
    const printed = execFileSync(process.execPath, [program, '--records', folder, '--out', out, ...flags], {
      encoding: 'utf8',
      env: quickStart,
    })
    expect(readFileSync(join(out, 'rwm.md'), 'utf8')).toBe(printed)
    return { page: printed, picture: readFileSync(join(out, 'rwm.svg'), 'utf8') }
  })
  expect(outputs[1]).toEqual(outputs[0])
  const { page, picture } = outputs[0]!
  for (const name of Object.keys(forecasters).filter(name => name !== 'stack')) {
    // Five conditions, in the mean and for each of two environments.
    const rows = page
      .split('\n')
      .filter(line => /^\| (no history|in-environment|cross-environment)/.test(line) && line.includes(`| ${name} |`))
    expect(rows).toHaveLength(15)
    for (const row of rows)
      expect(row.split('|')[3]!.trim()).toMatch(/^(none|−?\d\.\d{3} \[−?\d\.\d{3}, −?\d\.\d{3}\])$/)
    expect(picture).toContain(`>${name}<`)
  }
  expect(page).toContain('The noise ceiling')
  expect(page).toContain('arXiv 2610.12235')
  expect(page).toContain('already has Muon')
  expect(page).toContain('| oracle |')
  expect(page).not.toMatch(/NaN|undefined|Infinity/)
  expect(picture).not.toMatch(/NaN|undefined|Infinity/)
  expect(picture).toMatch(/^<svg xmlns[\s\S]*<\/svg>\n$/)
})

test('a folder without two record files is refused with a sentence', () => {
  const folder = temporaryFolder()
  const run = () =>
    execFileSync(process.execPath, [program, '--records', folder, '--out', folder], { stdio: 'pipe', env: quickStart })
  expect(run).toThrow(/has 0 \.jsonl files; give a folder with the records of two environments/)
})

test('a forecaster that knows the outcomes is perfect; one without a ranking chooses at random', async () => {
  const comparisons = await compare({ oracle, constant: forecasters.constant }, environments, options)
  for (const { condition, forecaster, overall } of comparisons) {
    if (forecaster === 'oracle') {
      expect(overall.regret.value, condition).toBe(0)
      expect(intervalOf(overall.regret).high).toBeCloseTo(0, 12)
      expect(overall.ndcg.value).toBeCloseTo(1, 12)
      expect(overall.spearman.value).toBeCloseTo(1, 12)
      expect(overall.error.value).toBe(0)
      expect(overall.finishing.value).toBe(1)
    } else {
      expect(overall.spearman.value).toBeNaN()
      expect(overall.regret.value).toBeGreaterThan(0)
      expect(overall.ndcg.value).toBeLessThan(1)
    }
  }
})

test('halves are disjoint and complete; with other ideas only, no near-duplicate is on both sides', () => {
  for (const condition of ['fixed-half', 'random-halves', 'other-ideas'] as const) {
    for (const { history, tested } of partsOf(condition, olmo, [nanochat], options)) {
      expect(new Set([...history, ...tested]).size).toBe(olmo.records.length)
      expect(history.length + tested.length).toBe(olmo.records.length)
      expect(Math.abs(history.length - tested.length)).toBeLessThanOrEqual(condition === 'other-ideas' ? 12 : 1)
      if (condition !== 'other-ideas') continue
      const ideas = (side: typeof tested) =>
        side.map(({ changes }) =>
          changes
            .map(({ option }) => option)
            .sort()
            .join(),
        )
      const known = new Set(ideas(history))
      expect(ideas(tested).filter(idea => known.has(idea))).toEqual([])
    }
  }
})

test('across environments the history is all of the others, guarded', () => {
  const history = olmo.records
  const tested = nanochat.records
  expect(partsOf('cross-environment', nanochat, [olmo], options)).toEqual([
    { environment: nanochat.environment, history, tested, guarded: true },
  ])
})

test('the case of Muon is about the recipe that has it, from records of the one that has not', async () => {
  const found = (await alreadyMuon([forecasters.neighbours], environments, 1))!
  expect(found.target).toBe('planted-nanochat')
  expect(found.sources).toEqual(['planted-olmo'])
  expect(found.rows.length).toBeGreaterThan(0)
  for (const { record } of found.rows) expect(record.intervention.sentence).toMatch(/muon/i)
  expect(await alreadyMuon([forecasters.neighbours], [olmo], 1)).toBeNull()
})
