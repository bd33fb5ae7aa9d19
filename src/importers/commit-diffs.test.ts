import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Family } from '../experiment/environment.ts'
import { openLedger } from '../ledger/ledger.ts'
import { openRepository, type Repository } from '../repository/repository.ts'
import { attachDiffs } from './commit-diffs.ts'
import { readResultsTsv } from './results-tsv.ts'
import { storeHistory } from './store-history.ts'

const header = 'commit\tval_bpb\tmemory_gb\tstatus\tdescription'
const family: Family = {
  name: 'small-model',
  description: '',
  metrics: [{ name: 'val_bpb', direction: 'minimize' }],
  constraints: [],
  command: 'node train.js',
  budget: {},
  evaluator: {},
  data: [],
}

describe('the code of an imported history', () => {
  let folder: string
  let repository: Repository
  const git = (...words: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=R', '-c', 'user.email=r@example.org', '-c', 'commit.gpgSign=false', ...words],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    ).trim()
  /** Commits a train.py with this learning rate; its short hash. */
  const commit = async (rate: string, files: Record<string, string> = {}) => {
    await writeFile(join(folder, 'train.py'), `LEARNING_RATE = ${rate}\nDEPTH = 4\n`)
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    git('add', '-A')
    git('commit', '-q', '-m', `rate ${rate}`)
    return git('rev-parse', '--short=7', 'HEAD')
  }
  /** The loop's reset, after which git drops the commit at once instead of in some weeks. */
  const lose = () => {
    git('reset', '-q', '--hard', 'HEAD~1')
    git('reflog', 'expire', '--expire=now', '--all')
    git('gc', '-q', '--prune=now')
  }
  const history = (...rows: string[]) =>
    readResultsTsv(`${[header, ...rows].join('\n')}\n`, 'results.tsv', {
      metric: { name: 'val_bpb', direction: 'minimize' },
    })

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'almanac-history-'))
    git('init', '-q', '-b', 'main')
    await commit('1e-3')
    repository = await openRepository(folder)
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('kept commits get their diffs, lost ones stay text, and the code of a nameless baseline is inferred', async () => {
    const start = git('rev-parse', 'HEAD')
    const first = await commit('2e-3')
    const lost = await commit('9e-3')
    lose()
    const second = await commit('3e-3')
    const { history: withCode, missing } = await attachDiffs(
      history(
        'baseline\t1.0\t4\tkeep\tbaseline',
        `${first}\t0.9\t4\tkeep\trate 2e-3`,
        `${lost}\t0.95\t4\tdiscard\trate 9e-3`,
        `${second}\t0.8\t4\tkeep\trate 3e-3`,
      ),
      repository,
    )
    expect(withCode.rows[0]!.code?.commit).toBe(start)
    const changes = withCode.rows.map(row => row.intervention.diff?.match(/^[-+]LEARNING_RATE.*$/gm) ?? null)
    expect(changes).toEqual([
      null,
      ['-LEARNING_RATE = 1e-3', '+LEARNING_RATE = 2e-3'],
      null,
      ['-LEARNING_RATE = 2e-3', '+LEARNING_RATE = 3e-3'],
    ])
    expect(missing).toEqual([{ place: 'line 4', commit: lost, reason: `git has no commit ${lost} any more` }])
    for (const row of withCode.rows.filter(({ intervention }) => intervention.diff !== null)) {
      const base = withCode.rows.find(({ key }) => key === row.against)!.code!.commit
      expect(await repository.treeAfter(base, row.intervention.diff!)).toBe(row.code!.treeAfterDiff)
    }
  })

  test('in the ledger the changed option is known, and the last kept commit is the reference', async () => {
    const first = await commit('2e-3')
    const { history: withCode } = await attachDiffs(
      history('baseline\t1.0\t4\tkeep\tbaseline', `${first}\t0.9\t4\tkeep\tdouble the rate`),
      repository,
    )
    await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
    const { lastVersionId } = await storeHistory(ledger, family, withCode)
    const [record] = await ledger.recordsOf({})
    expect(record!.changes).toEqual([{ option: 'train.py:LEARNING_RATE', from: 0.001, to: 0.002 }])
    const { reference } = (await ledger.version(lastVersionId!))!
    expect(reference).toMatchObject({ commit: git('rev-parse', 'HEAD'), tree: git('rev-parse', 'HEAD^{tree}') })
  })

  test('a log that was committed too is left out of the diffs: it says how it went', async () => {
    const first = await commit('2e-3', { 'results.tsv': 'the answer\n' })
    const rows = history('baseline\t1.0\t4\tkeep\tbaseline', `${first}\t0.9\t4\tkeep\tdouble the rate`)
    const { history: withCode } = await attachDiffs(rows, repository, { exclude: ['results.tsv'] })
    const { intervention, code } = withCode.rows[1]!
    expect(intervention.diff).not.toContain('the answer')
    expect(code!.treeAfterDiff).not.toBe(code!.tree)
    expect(await repository.treeAfter(withCode.rows[0]!.code!.commit, intervention.diff!)).toBe(code!.treeAfterDiff)
  })

  test('neither a file that nobody wrote nor a diff that nobody would read is kept', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, line) => `LINE_${line} = ${line}\n`).join('')
    const first = await commit('2e-3', { 'weights.txt': lines(80_000) })
    const second = await commit('3e-3', { 'tables.py': lines(20_000) })
    const third = await commit('4e-3')
    const { history: withCode, missing } = await attachDiffs(
      history(
        'baseline\t1.0\t4\tkeep\tbaseline',
        `${first}\t0.9\t4\tkeep\trate 2e-3`,
        `${second}\t0.8\t4\tkeep\trate 3e-3 and tables`,
        `${third}\t0.7\t4\tkeep\trate 4e-3`,
      ),
      repository,
    )
    const [start, ...rows] = withCode.rows
    expect(rows.map(({ intervention }) => intervention.diff?.match(/^[-+]LEARNING_RATE.*$/gm)?.length)).toEqual([
      2,
      undefined,
      2,
    ])
    expect(rows[0]!.intervention.diff).not.toContain('weights.txt')
    expect(await repository.treeAfter(start!.code!.commit, rows[0]!.intervention.diff!)).toBe(
      rows[0]!.code!.treeAfterDiff,
    )
    expect(rows[1]!.code).toMatchObject({ commit: git('rev-parse', second), treeAfterDiff: null })
    expect(missing).toEqual([
      { place: 'line 4', commit: second, reason: `the diff of commit ${second} is longer than 256 KiB` },
    ])
  })

  test('one commit behind different ideas tells none of them', async () => {
    const first = await commit('2e-3')
    const { history: withCode, missing } = await attachDiffs(
      history(
        'baseline\t1.0\t4\tkeep\tbaseline',
        `${first}\t0.9\t4\tkeep\tone idea`,
        `${first}\t0.8\t4\tdiscard\tanother idea`,
        'nocommit\t0.85\t4\tdiscard\ta third',
        `${git('rev-parse', 'HEAD').slice(0, 6)}-dirty\t0.85\t4\tdiscard\ta fourth`,
      ),
      repository,
    )
    expect(withCode.rows.map(({ intervention }) => intervention.diff)).toEqual([null, null, null, null, null])
    expect(missing.map(({ place, reason }) => `${place.slice(5)} ${reason.replace(first, 'it')}`)).toEqual([
      '2 names no commit',
      '3 commit it stands in rows that try different things',
      '4 commit it stands in rows that try different things',
      '5 names no commit',
      '6 names no commit',
    ])
  })
})
