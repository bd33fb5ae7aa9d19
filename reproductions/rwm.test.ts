import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { nearDuplicateGroups } from '../src/experiment/near-duplicates.ts'
import type { Quantiles } from '../src/experiment/record.ts'
import { type Forecaster, forecasters } from '../src/forecast/forecaster.ts'
import { seededRandom } from '../src/statistics/random.ts'
import { alreadyMuon } from './rwm/already-muon.ts'
import { compare } from './rwm/comparison.ts'
import { partsOf } from './rwm/conditions.ts'
import { type EnvironmentRecords, environmentRecords } from './rwm/environment-records.ts'
import { groupResamples, intervalOf } from './rwm/estimates.ts'
import { judge } from './rwm/judge.ts'
import { perfectForecastCorrelation, seedCorrelation, twoSeedReliability } from './rwm/noise-ceiling.ts'
import { plantedRecordFile } from './rwm/planted-records.ts'
import { replay, replayOracle } from './rwm/replay.ts'

const program = fileURLToPath(new URL('rwm.ts', import.meta.url))
const files = { nanochat: plantedRecordFile('nanochat', 30, 1), olmo: plantedRecordFile('olmo', 30, 1) }
const environments = [
  environmentRecords(files.nanochat, 'nanochat.jsonl', 1),
  environmentRecords(files.olmo, 'olmo.jsonl', 1001),
] as const
const [nanochat, olmo] = environments
const records = environments.flatMap(environment => environment.records)

/** Knows the outcomes: the best that a forecast can be. */
const oracle: Forecaster = (_environment, history, candidates) =>
  candidates.map(candidate => {
    const { measured, outcome } = records.find(({ changes }) => changes === candidate.changes)!
    const gain = measured?.gain ?? -1
    const quantiles: Quantiles = [gain, gain, gain, gain, gain]
    const recordIds = history.map(({ id }) => id)
    return {
      quantiles,
      finishes: outcome === 'finished' ? 1 : 0,
      forecaster: 'oracle',
      forecasterVersion: '1',
      recordIds,
    }
  })

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
    })
    expect(readFileSync(join(out, 'rwm.md'), 'utf8')).toBe(printed)
    return { page: printed, picture: readFileSync(join(out, 'rwm.svg'), 'utf8') }
  })
  expect(outputs[1]).toEqual(outputs[0])
  const { page, picture } = outputs[0]!
  for (const name of Object.keys(forecasters)) {
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
  const run = () => execFileSync(process.execPath, [program, '--records', folder, '--out', folder], { stdio: 'pipe' })
  expect(run).toThrow(/has 0 \.jsonl files; give a folder with the records of two environments/)
})

test('a forecaster that knows the outcomes is perfect; one without a ranking chooses at random', () => {
  const comparisons = compare({ oracle, constant: forecasters.constant }, environments, options)
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

test('across environments no forecast may be conditioned on its near-duplicates, or on anything tested', () => {
  const [part] = partsOf('cross-environment', nanochat, [olmo], options)
  const judged = judge(forecasters.neighbours, part!, 1)
  const seenByAll = judged.filter(({ forecast }) => forecast.recordIds.length === olmo.records.length)
  expect(seenByAll.length).toBeLessThan(judged.length)
  const careless: Forecaster = (environment, _history, candidates, seed) =>
    forecasters.neighbours(environment, olmo.records, candidates, seed)
  expect(() => judge(careless, part!, 1)).toThrow(/was shown record \d+/)
  const peeking: Forecaster = (environment, _history, candidates, seed) =>
    forecasters.neighbours(environment, nanochat.records, candidates, seed)
  expect(() => judge(peeking, part!, 1)).toThrow(/was shown record \d+/)
})

test('a resample draws near-duplicates together, in both environments, and as many groups as there are', () => {
  const groups = nearDuplicateGroups(records)
  const first = new Map(groups.map((group, index) => [group, records[index]!] as const))
  expect(first.size).toBeLessThan(records.length)
  const resamples = groupResamples(records, 50, 3)
  for (const drawn of resamples) {
    records.forEach((record, index) => {
      expect(drawn(record)).toBe(drawn(first.get(groups[index]!)!))
    })
    expect([...first.values()].reduce((sum, record) => sum + drawn(record), 0)).toBe(first.size)
  }
  const never = resamples.flatMap(drawn => [...first.values()].map(record => drawn(record) === 0))
  // (1 - 1/n)^n of the groups are in no place of a resample: about 0.36.
  expect(never.filter(Boolean).length / never.length).toBeCloseTo(0.36, 1)
})

test('the noise ceiling is one where seeds agree, and Spearman and Brown’s from there', () => {
  const agreeing = (environment: EnvironmentRecords) =>
    environment.records.map(record => ({
      ...record,
      runs: record.runs.map(run => ({
        ...run,
        outcome: { ...run.outcome!, metrics: record.runs[0]!.outcome!.metrics },
      })),
    }))
  expect(seedCorrelation(agreeing(olmo))).toBeCloseTo(1, 12)
  const some = seedCorrelation(olmo.records)
  expect(some).toBeLessThan(1)
  expect(some).toBeGreaterThan(0.5)
  expect(twoSeedReliability(0.5)).toBeCloseTo(2 / 3, 12)
  // Simulated: the truth and two noisy readings of it.
  const random = seededRandom(3)
  const readings = Array.from({ length: 4000 }, () => {
    const truth = random.normal()
    const [first, second] = [truth + random.normal(), truth + random.normal()]
    return { truth, first, second, both: (first + second) / 2 }
  })
  const correlation = (of: (one: (typeof readings)[number]) => number, other: typeof of) => {
    const product = (a: typeof of, b: typeof of) => readings.reduce((sum, one) => sum + a(one) * b(one), 0)
    return product(of, other) / Math.sqrt(product(of, of) * product(other, other))
  }
  const single = correlation(
    one => one.first,
    one => one.second,
  )
  expect(perfectForecastCorrelation(single)).toBeCloseTo(
    correlation(
      one => one.truth,
      one => one.both,
    ),
    1,
  )
})

test('the replayed loop runs three of each round, and an oracle’s is the best there is', () => {
  for (const environment of environments) {
    const best = replayOracle(environment, 7)
    expect(best.naulc).toBe(1)
    const results = [oracle, forecasters.constant, forecasters.ridge].map(forecaster =>
      replay(forecaster, environment, [], 7),
    )
    expect(results[0]).toEqual(best)
    for (const result of results) {
      expect(result.naulc).toBeLessThanOrEqual(1)
      expect(result.best).toBeLessThanOrEqual(best.best)
    }
  }
})

test('the case of Muon is about the recipe that has it, from records of the one that has not', () => {
  const found = alreadyMuon([forecasters.neighbours], environments, 1)!
  expect(found.target).toBe('planted-nanochat')
  expect(found.sources).toEqual(['planted-olmo'])
  expect(found.rows.length).toBeGreaterThan(0)
  for (const { record } of found.rows) expect(record.intervention.sentence).toMatch(/muon/i)
  expect(alreadyMuon([forecasters.neighbours], [olmo], 1)).toBeNull()
})
