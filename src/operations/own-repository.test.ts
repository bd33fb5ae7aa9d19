/**
 * Experiments in a user's own git repository: the environment is a folder of it, changes are diffs, runs have worktrees, and
 * the user's index, files and head stay as they are.
 */
import { existsSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EnvironmentInput } from '../campaign/environment-file.ts'
import { openLedger } from '../ledger/ledger.ts'
import {
  commitAll,
  fingerprint,
  gitIn,
  scratchFolder,
  scratchRepository,
  write,
} from '../repository/scratch-repository.ts'
import { forecast } from './forecast.ts'
import { inProcess } from './in-process.ts'
import { promote } from './promote.ts'
import { records } from './records.ts'
import { run } from './run.ts'

const train = `import { evaluate } from './evaluate.mjs'
import { writeFileSync } from 'node:fs'
const RATE = 1
const seed = Number(process.argv[2])
writeFileSync('metrics.json', JSON.stringify({ loss: evaluate(RATE) + 0.001 * seed }))
`
const input: EnvironmentInput = {
  name: 'own',
  command: '{node} train.mjs {seed}',
  reference: { commit: 'HEAD' },
  metrics: [{ name: 'loss', direction: 'minimize', file: 'metrics.json', path: 'loss' }],
  evaluator: ['evaluate.mjs', 'held-out'],
}

/** The environment is the folder `model` of the repository; the metric is left where the program stands. */
function ownRepository(changes: Partial<EnvironmentInput> = {}): { root: string; model: string } {
  const root = scratchRepository({
    'README.md': 'Two models.\n',
    'model/train.mjs': train,
    'model/evaluate.mjs': 'export const evaluate = rate => Math.abs(rate - 0.1)\n',
    'model/held-out/a.txt': 'a text\n',
    'model/metrics.json': '{"loss": 99}\n',
    'model/almanac.config.json': JSON.stringify({ ...input, ...changes }),
  })
  return { root, model: join(root, 'model') }
}

const rate = (root: string, value: number) =>
  write(root, { 'model/train.mjs': train.replace('RATE = 1', `RATE = ${value}`) })

const measured = async (folder: string, message: string, more: object = {}) =>
  (await run.run({ message, history: 'pooled', ...more }, inProcess(folder))).record

async function ledgerRuns(model: string): Promise<number> {
  const path = join(model, '.almanac', 'ledger.db')
  if (!existsSync(path)) return 0
  await using ledger = await openLedger(path)
  let count = 0
  while ((await ledger.run(count + 1)) !== null) count++
  return count
}

test('a dirty tree is measured in worktrees; index, files, refs and worktrees are the same bytes afterwards', async () => {
  const { root, model } = ownRepository()
  rate(root, 0.5)
  gitIn(root, 'add', 'model/train.mjs')
  write(root, { 'README.md': 'Staged and then changed again.\n', 'model/new.mjs': 'export const x = 1\n' })
  gitIn(root, 'checkout', '--quiet', '--detach')
  const before = fingerprint(root)

  const ledger = join(scratchFolder(), 'ledger.db')
  const input = { message: 'halve the rate', history: 'pooled' as const }
  const { record } = await run.run(input, inProcess(model, { ledger }))
  expect(record.measured!.gain).toBeCloseTo(0.5 + 0.001 * (2 - 1.5), 9)
  expect(record.verdict).toBe('better')
  expect(record.runs.map(({ outcome }) => outcome!.kind)).toEqual(['finished', 'finished'])
  expect(record.intervention.diff).toContain('new.mjs')
  expect(fingerprint(root)).toBe(before)
  const runs = join(dirname(ledger), 'runs')
  const folders = readdirSync(runs).flatMap(name => readdirSync(join(runs, name)).map(each => join(runs, name, each)))
  expect(folders).toHaveLength(5)
  expect(folders.filter(folder => existsSync(join(folder, 'tree')))).toEqual([])
  await expect(run.run(input, inProcess(model, { ledger }))).rejects.toThrow(/This was run before \(record \d+\)/)
  expect(fingerprint(root)).toBe(before)
})

test('files that the command or the environment file names are no part of the change', async () => {
  const { root, model } = ownRepository({
    candidates: { file: 'ideas.json' },
    reference: { commit: 'HEAD', configuration: { rate: 1 } },
  })
  rate(root, 0.5)
  const ideas = JSON.stringify([{ sentence: 'a warm-up', overrides: null, diff: null }])
  write(root, { 'model/ideas.json': ideas, 'model/mine.json': ideas, 'model/new.mjs': 'export const x = 1\n' })
  const changed = async (input: object) => {
    const { foreseen } = await forecast.run(forecast.input.parse(input), inProcess(model))
    const diffs = foreseen.map(({ candidate }) => candidate.intervention.diff ?? '')
    return [...diffs.join('\n').matchAll(/^\+\+\+ b\/model\/(\S+)/gm)].map(([, name]) => name).sort()
  }
  expect(await changed({})).toEqual(['mine.json', 'new.mjs', 'train.mjs'])
  write(root, { 'model/set.json': '{"rate": 2}' })
  expect(await changed({ overrides: 'set.json' })).toEqual(['mine.json', 'new.mjs', 'train.mjs'])
})

test('the folder may be reached through a symbolic link', async () => {
  const { root, model } = ownRepository({ seeds: 1, referenceSeeds: 1 })
  const link = join(scratchFolder(), 'link')
  symlinkSync(model, link)
  rate(root, 0.5)
  const record = await measured(link, 'halve the rate')
  expect(record.outcome).toBe('finished')
  expect(record.intervention.diff).not.toContain('almanac')
})

test('promote: a version with its parent and seeds of its own, old gains unchanged; cut short, it is repeated', async () => {
  const { root, model } = ownRepository()
  rate(root, 0.5)
  const { id, measured: old } = await measured(model, 'halve the rate')
  const stop = new AbortController()
  stop.abort()
  const cut = await promote.run({ record: id, anyway: false }, inProcess(model, { stop: stop.signal }))
  expect(cut).toMatchObject({ after: null, ref: `refs/almanac/own/record-${id}` })
  expect(promote.text(cut, { width: 80, styling: (_, words) => words })).toContain('the old one stays')

  const promoted = await promote.run({ record: id, anyway: false }, inProcess(model))
  expect(promoted).toMatchObject({ commit: cut.commit, before: expect.closeTo(0.902), after: expect.closeTo(0.404) })
  expect(gitIn(root, 'rev-parse', `${promoted.ref}^`)).toBe(gitIn(root, 'rev-parse', 'HEAD'))
  await using ledger = await openLedger(join(model, '.almanac', 'ledger.db'))
  const [all] = await ledger.families()
  const current = (await ledger.currentVersion(all!.id))!.version
  expect(current.parent).toMatchObject({ interventionId: id })
  const seeds = (await ledger.runsOf(await ledger.ensureReference(current.id))).map(({ seed }) => seed)
  expect(seeds).toEqual([3, 4, 5])
  const listed = await records.run({ sort: 'newest', limit: 9, current: false, all: false }, inProcess(model))
  expect(listed.records.find(({ record }) => record === id)!.measured).toEqual(old)

  // The dirty tree is the reference now; from here, changes are against it.
  await expect(measured(model, 'nothing')).rejects.toThrow('Nothing is changed')
  rate(root, 0.2)
  expect((await measured(model, 'and lower still')).measured!.gain).toBeCloseTo(0.3 + 0.001 * 2.5, 9)
  await expect(promote.run({ record: id, anyway: false }, inProcess(model))).rejects.toThrow(
    `There is no record ${id} against the current reference`,
  )
})

test('HEAD says where to begin, and a reference that never ran is left for the commit that mends it', async () => {
  const { root, model } = ownRepository({ seeds: 1, referenceSeeds: 1 })
  write(root, { 'model/train.mjs': 'throw new Error("no data")\n' })
  commitAll(root, 'broken')
  rate(root, 0.5)
  await expect(measured(model, 'halve the rate')).rejects.toThrow(/The reference did not finish \(crashed: .*no data/)
  rate(root, 1)
  commitAll(root, 'mended')
  rate(root, 0.5)
  expect((await measured(model, 'halve the rate')).measured!.gain).toBeCloseTo(0.5, 9)
  // Now something was measured: a commit moves nothing.
  commitAll(root, 'kept')
  rate(root, 0.4)
  expect((await measured(model, 'lower')).measured!.gain).toBeCloseTo(0.6, 9)
})

test('a ledger inside the repository is no part of a change', async () => {
  const { root, model } = ownRepository({ seeds: 1, referenceSeeds: 1 })
  rate(root, 0.5)
  const ledger = join(root, 'ledger.db')
  const { record } = await run.run({ message: 'x', history: 'pooled' }, inProcess(model, { ledger }))
  expect(record.intervention.diff!.match(/^diff --git .*$/gm)).toEqual([
    'diff --git a/model/train.mjs b/model/train.mjs',
  ])
  rate(root, 0.4)
  const again = await forecast.run({ history: 'pooled', sentences: [] }, inProcess(model, { ledger }))
  expect(again.foreseen[0]!.candidate.intervention.diff!.match(/^diff --git .*$/gm)).toHaveLength(1)
  expect(again.next).toBe('almanac run -m "what it changes, and why it might help"')
})

describe('a change that reaches where it must not', () => {
  const refused = async (model: string, more: object): Promise<string> => {
    const error = await run.run({ message: 'x', history: 'pooled', ...more }, inProcess(model)).then(
      () => null,
      error => error as Error,
    )
    expect(error?.name).toBe('InputError')
    expect(await ledgerRuns(model)).toBe(0)
    return error!.message
  }
  const patch = (path: string) =>
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`

  test('the evaluator, by a changed line, a rename, or a file in its folder', async () => {
    const { root, model } = ownRepository()
    const which = (path: string) =>
      `It changes model/${path}, which decides the metric (evaluator); a gain would mean nothing.`
    write(root, { 'model/held-out/b.txt': 'easier\n' })
    expect(await refused(model, {})).toBe(which('held-out/b.txt'))
    gitIn(root, 'clean', '-fdq')
    gitIn(root, 'mv', 'model/evaluate.mjs', 'model/other.mjs')
    expect(await refused(model, {})).toMatch(/evaluate\.mjs/)
  })

  test('outside the repository: .., an absolute path, a symbolic link, git itself', async () => {
    const { root, model } = ownRepository()
    const link =
      'diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n'
    const patches = { up: patch('../evil'), absolute: patch('/tmp/evil'), link, git: patch('.git/hooks/post-checkout') }
    for (const [name, text] of Object.entries(patches)) {
      write(dirname(root), { [name]: text })
      const sentence = await refused(model, { patch: join(dirname(root), name) })
      expect(sentence, name).toMatch(/outside|git's own|leaves|invalid path|\.\./)
      expect(sentence.split('\n')).toHaveLength(1)
    }
    expect(existsSync('/tmp/evil')).toBe(false)
  })

  test('a patch that does not apply, that is none, or that is not there', async () => {
    const { root, model } = ownRepository()
    write(dirname(root), { stale: patch('README.md'), words: 'lower the rate\n' })
    expect(await refused(model, { patch: '../../stale' })).toMatch(/does not apply to [0-9a-f]{12}: .*README\.md/)
    expect(await refused(model, { patch: '../../words' })).toMatch(/does not apply|No valid patches/)
    expect(await refused(model, { patch: 'gone.patch' })).toMatch(
      /^There is no file \/.*\/gone\.patch; correct its name\.$/,
    )
    expect(await refused(model, { branch: 'gone' })).toBe('--branch gone: git knows no such branch or commit.')
  })

  test('a link that does not exist, or that git carries', async () => {
    const { root, model } = ownRepository({ link: ['data'], seeds: 1, referenceSeeds: 1 })
    rate(root, 0.5)
    expect(await refused(model, {})).toContain('almanac.config.json: link names "data", which does not exist in')
  })
})

describe('a repository of another kind', () => {
  test('bare, without a commit, or none', async () => {
    const bare = scratchFolder()
    gitIn(bare, 'init', '--quiet', '--bare')
    write(bare, { 'almanac.config.json': JSON.stringify(input) })
    const call = (folder: string) => forecast.run({ sentences: ['x'], history: 'none' }, inProcess(folder))
    await expect(call(bare)).rejects.toThrow(/reference\.commit is "HEAD", but .* is a bare repository/)
    const young = scratchFolder()
    gitIn(young, 'init', '--quiet')
    write(young, { 'almanac.config.json': JSON.stringify(input), 'evaluate.mjs': '', 'held-out/a': '' })
    await expect(call(young)).rejects.toThrow('reference.commit is "HEAD", which git does not know here')
  })

  test('with a changed submodule: it is left out, and said', async () => {
    const inner = scratchRepository()
    const { root, model } = ownRepository({ seeds: 1, referenceSeeds: 1 })
    gitIn(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'library')
    commitAll(root, 'a library')
    write(join(root, 'library'), { 'train.py': 'RATE = 2\n' })
    gitIn(join(root, 'library'), '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-qam', 'change')
    rate(root, 0.5)
    const context = inProcess(model)
    const { record } = await run.run({ message: 'halve the rate', history: 'pooled' }, context)
    expect(record.outcome).toBe('finished')
    expect(context.notes()).toContain('Left out of the change: library (a submodule)')
  })

  test('in the middle of a merge', async () => {
    const { root, model } = ownRepository()
    gitIn(root, 'checkout', '-qb', 'other')
    rate(root, 0.5)
    commitAll(root, 'one')
    gitIn(root, 'checkout', '-q', 'main')
    rate(root, 0.7)
    commitAll(root, 'two')
    expect(() => gitIn(root, 'merge', 'other')).toThrow()
    await expect(measured(model, 'merge')).rejects.toThrow('a merge is not finished: resolve model/train.mjs first')
  })
})
