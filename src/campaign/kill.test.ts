/**
 * `kill -9` of Almanac at random moments, then resume: nothing is lost, nothing runs twice, no half row.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { almanac, startAlmanac } from '../command-line.ts'
import { seededRandom } from '../statistics/random.ts'
import { startsOf, toyCandidates, toyEnvironment } from './toy-environment.ts'

let folder = ''
let logs = ''
afterEach(() => {
  for (const each of [folder, logs]) rmSync(each, { recursive: true, force: true })
})

const start = ['campaign', 'start', '--rounds', '3', '--choose', '2', '--exploration', '0']

const plain = () => toyEnvironment({ reference: { configuration: { rate: 1, width: 4, wait: 120 } } })

/** Each run has a worktree, which a kill may leave half made. */
function inGit(): string {
  logs = mkdtempSync(join(tmpdir(), 'almanac-log-'))
  const log = join(logs, 'started.log')
  const configuration = { rate: 1, width: 4, wait: 120, log }
  const made = toyEnvironment({ reference: { configuration, commit: 'HEAD' } })
  symlinkSync(log, join(made, 'started.log'))
  writeFileSync(join(made, '.gitignore'), 'started.log\n')
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'begin'],
  ])
    git(made, ...words)
  return made
}

function git(where: string, ...words: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false']
  return execFileSync('git', [...identity, ...words], { cwd: where, encoding: 'utf8' })
}

test.each([
  ['', plain],
  [' in worktrees', inGit],
])(
  'killed at many random moments and resumed, a campaign runs everything once%s',
  { timeout: 240_000 },
  async (_, make) => {
    folder = make()
    const random = seededRandom('kill')
    let kills = 0
    let finished = false
    for (let call = 0; !finished && call < 60; call++) {
      const begun = call > 0 && campaigns() > 0
      const { process: child, ended } = startAlmanac(folder, ...(begun ? ['campaign', 'resume'] : start))
      // Moments are counted in rows written, and some milliseconds more: seconds would mean something else on a busy machine.
      const moment = rows() + random.integer(12)
      const delay = 30 * random.uniform()
      let over = false
      const watching = (async () => {
        while (!over && rows() < moment) await pause(3)
        await pause(delay)
        child.kill('SIGKILL')
      })()
      const { code, signal, errors } = await ended
      over = true
      await watching
      if (signal === 'SIGKILL') kills++
      // 3: it was killed after its last word, so there is nothing left to do.
      else expect([0, 3], errors).toContain(code)
      finished = signal === null
    }
    expect(finished).toBe(true)
    expect(kills).toBeGreaterThan(3)

    const starts = startsOf(folder)
    expect(new Set(starts).size).toBe(starts.length)
    expect(starts).toHaveLength(3 + 3 * 2 * 2)
    expectWholeLedger({ runs: starts.length })
    if (make === inGit) {
      expect(git(folder, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1)
      expect(git(folder, 'status', '--porcelain')).toBe('')
    }
  },
)

test('a campaign that was never interrupted measures the same', async () => {
  folder = toyEnvironment()
  const whole = await almanac(folder, ...start)
  expect(whole.code).toBe(0)
  expect(new Set(startsOf(folder)).size).toBe(15)
  expectWholeLedger({ runs: 15 })
})

test('runs whose processes died with the machine are tried again', async () => {
  folder = toyEnvironment({
    reference: { configuration: { rate: 1, width: 4, until: 'go' } },
    seeds: 1,
    referenceSeeds: 1,
  })
  const { process: child, ended } = startAlmanac(folder, ...start, '--rounds', '1')
  while (startsOf(folder).length < 1) await pause(20)
  child.kill('SIGKILL')
  await ended
  const database = new DatabaseSync(join(folder, '.almanac', 'ledger.db'), { readOnly: true })
  const [run] = database.prepare('select folder from runs').all() as { folder: string }[]
  database.close()
  const claim = JSON.parse(readFileSync(join(run!.folder, 'process.json'), 'utf8')) as { wrapper: { pid: number } }
  const command = JSON.parse(readFileSync(join(run!.folder, 'command.json'), 'utf8')) as { pid: number }
  process.kill(claim.wrapper.pid, 'SIGKILL')
  process.kill(-command.pid, 'SIGKILL')
  writeFileSync(join(folder, 'go'), '')

  const resumed = await almanac(folder, 'campaign', 'resume')
  expect(resumed.code, resumed.errors).toBe(0)
  expect(startsOf(folder)[0]).toBe(startsOf(folder)[1])
  expect(outcomes()).toMatchObject({ infrastructure: 1, finished: 3 })
})

test('a run that was paid for is read on resume, though the budget is spent', async () => {
  const candidates = toyCandidates.map(({ sentence, overrides }) => ({
    sentence,
    overrides: { ...overrides, until: 'go' },
  }))
  const configuration = { rate: 1, width: 4, until: '' }
  folder = toyEnvironment({ reference: { configuration }, seeds: 1, referenceSeeds: 1 }, candidates)
  const { process: child, ended } = startAlmanac(folder, ...start, '--rounds', '1', '--runs', '3')
  while (startsOf(folder).length < 3) await pause(20)
  child.kill('SIGKILL')
  await ended
  writeFileSync(join(folder, 'go'), '')
  const resumed = await almanac(folder, 'campaign', 'resume', '--json')
  expect(JSON.parse(resumed.output), resumed.errors).toMatchObject({
    state: 'finished',
    why: 'The budget of 3 runs is spent.',
    records: [{ verdict: 'inconclusive' }, { verdict: 'inconclusive' }],
  })
  expect(startsOf(folder)).toHaveLength(3)
  expect(outcomes()).toEqual({ finished: 3 })
  expect(count('select count(*) n from verdicts')).toBeGreaterThanOrEqual(2)
})

function open(): DatabaseSync {
  return new DatabaseSync(join(folder, '.almanac', 'ledger.db'), { readOnly: true })
}

function campaigns(): number {
  return count('select count(*) n from campaigns')
}

function rows(): number {
  return count(
    'select (select count(*) from runs) + (select count(*) from outcomes) + (select count(*) from campaign_events) n',
  )
}

/** Zero while there is no ledger. */
function count(sql: string): number {
  try {
    const database = open()
    const { n } = database.prepare(sql).get() as { n: number }
    database.close()
    return n
  } catch {
    return 0
  }
}

function outcomes(): Record<string, number> {
  const database = open()
  const rows = database.prepare('select kind, count(*) n from outcomes group by kind').all() as {
    kind: string
    n: number
  }[]
  database.close()
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]))
}

/** No half row, every run with its outcome, every candidate that may run with its forecast, every candidate of every round there. */
function expectWholeLedger({ runs }: { runs: number }): void {
  const database = open()
  const one = (sql: string) => Object.values(database.prepare(sql).get()!)[0]
  expect(one('pragma integrity_check')).toBe('ok')
  expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
  expect(one("select count(*) from runs join outcomes on run_id = runs.id where kind = 'finished'")).toBe(runs)
  expect(one('select count(*) from runs left join outcomes on run_id = runs.id where run_id is null')).toBe(0)
  expect(one("select count(*) from outcomes where kind not in ('finished', 'infrastructure')")).toBe(0)
  expect(one('select count(*) from rounds')).toBe(3)
  const unforeseen = "forecast_id is null and (gated is null or choice <> 'passed-over')"
  expect(one(`select count(*) from choices where ${unforeseen}`)).toBe(0)
  expect(one("select count(*) from choices where choice <> 'passed-over'")).toBe(6)
  const seen =
    'select count(*) from (select 1 from choices where round = 1 union all select 1 from dropped_candidates where round = 1)'
  expect(one(seen)).toBe(toyCandidates.length)
  database.close()
}
