import { expect, test } from 'vitest'
import { openRepository } from '../repository/repository.ts'
import { gitHistory } from './git-history.ts'
import type { ImportedHistory } from './history.ts'
import type { ImportOptions } from './importer.ts'
import { type ScratchCommit, scratchCommits } from './scratch-commits.ts'

const code = (rate: string, depth = 4) => ({ 'train.py': `RATE = ${rate}\nDEPTH = ${depth}\n` })
const results = (loss: number) => ({ 'results.json': JSON.stringify({ val_loss: loss, seconds: 300 }) })

async function read(commits: readonly ScratchCommit[], options: ImportOptions = {}) {
  const { root, hashes } = scratchCommits(commits)
  const [history] = await gitHistory.read({ kind: 'folder', path: root, name: 'trials' }, options)
  return { root, hashes, history: history! }
}

/** Rows in a line each: step, role, step it was tried on, value. */
function lines({ history, hashes }: { history: ImportedHistory; hashes: readonly string[] }): string[] {
  const stepOf = (commit: string | null) => hashes.indexOf(commit!)
  const byKey = new Map(history.rows.map(row => [row.key, row]))
  return history.rows.map(({ commit, role, against, outcome }) => {
    const on = against === null ? '' : ` on ${stepOf(byKey.get(against)!.commit)}`
    return `${stepOf(commit)} ${role}${on}: ${outcome.metrics[history.metrics[0].name] ?? outcome.kind}`
  })
}

function leftOut({ history, hashes }: { history: ImportedHistory; hashes: readonly string[] }): string[] {
  const step = (hash: string) => String(hashes.findIndex(each => each.startsWith(hash)))
  return history.unusable.map(({ place, reason }) => `${place}: ${reason}`.replace(/\b[0-9a-f]{7}\b/g, step))
}

const plain: readonly ScratchCommit[] = [
  { message: 'begin', files: { ...code('0.1'), ...results(1) } },
  {
    message:
      'Raise the rate\n\nLarger steps for a short budget. val_loss 1 -> 0.9, better.\n\nSigned-off-by: Ada <ada@example.org>',
    files: { ...code('0.2'), ...results(0.9) },
  },
  { message: 'Say how it works', files: { 'README.md': 'text\n' } },
  { message: 'Tidy up', files: { 'lib.py': 'x = 1\n' } },
  { message: 'Deeper', files: { ...code('0.2', 8), ...results(0.95), 'docs/why.md': 'because' } },
]

test('each measured commit is a change of the one measured before it, with what was not measured in between', async () => {
  const found = await read(plain)
  expect(lines(found)).toEqual(['0 reference: 1', '1 kept on 0: 0.9', '4 kept on 1: 0.95'])
  expect(leftOut(found)).toEqual([
    'commit 2: touches documents only',
    'commit 3: not measured by itself: part of the change that 4 is',
  ])
  const [, first, second] = found.history.rows
  expect(first!.intervention.sentence).toBe('Raise the rate\nLarger steps for a short budget')
  expect(first!.note).toContain('val_loss 1 -> 0.9')
  expect(second!.intervention.sentence).toBe('Tidy up\nDeeper')
  expect(first!.intervention.diff).toContain('-RATE = 0.1\n+RATE = 0.2\n')
  expect(second!.intervention.diff!.match(/^diff .*$/gm)).toEqual([
    'diff --git a/lib.py b/lib.py',
    'diff --git a/train.py b/train.py',
  ])
  expect(first!.outcome).toMatchObject({
    kind: 'finished',
    finishedAt: '2023-11-14T22:14:20.000Z',
    metrics: { seconds: 300 },
  })
  expect(found.history.metrics[0]).toEqual({ name: 'val_loss', direction: 'minimize', guessed: true })
  expect(found.history.guesses).toEqual(['the metric val_loss is read from results.json (3 commits)'])
  expect(JSON.stringify(found.history)).not.toMatch(/ada|lovelace|example\.org/i)
})

test('the tree after a diff is what git makes of it, with the results of before', async () => {
  const { root, history } = await read([
    ...plain,
    { message: 'A sub-folder', files: { 'a/b/c.py': '1\n', 'a/b/metrics.json': '{}', ...results(0.8) } },
    {
      message: 'It goes',
      files: { 'a/b/c.py': null, 'a/b/metrics.json': null, 'a.txt': 'between a and a/', ...results(0.7) },
    },
    {
      message: 'Not UTF-8',
      files: { 'train.py': Buffer.from('RATE = 0.2 # \xe9\n', 'latin1'), 'results.json': '{"val_loss": 0.6}' },
    },
  ])
  const repository = await openRepository(root)
  const byKey = new Map(history.rows.map(row => [row.key, row]))
  for (const { against, intervention, code } of history.rows.slice(1)) {
    const base = byKey.get(against!)!.code!
    expect(code!.treeAfterDiff).toBe(await repository.treeAfter(base.commit, intervention.diff!))
    expect(code!.treeAfterDiff).not.toBe(code!.tree)
  }
  expect(history.rows).toHaveLength(6)
})

test('what is taken back was not kept, however it is taken back', async () => {
  const revert = { message: 'Revert "Raise the rate"\n\nThis reverts commit 0000000.', files: code('0.1') }
  const found = await read([
    { message: 'begin', files: { ...code('0.1'), ...results(1) } },
    { message: 'Raise the rate', files: { ...code('0.2'), ...results(1.1) } },
    { ...revert, files: { ...code('0.1'), ...results(1) } },
    { message: 'Deeper', files: { ...code('0.1', 8), ...results(0.9) } },
    // Back without a word, and measured again.
    { message: 'As it was', files: { ...code('0.1', 4), ...results(1.02) } },
    { message: 'Never measured', files: code('0.3') },
    { message: 'No', files: code('0.1') },
    // The result of a change, together with what takes it back.
    { message: 'Wider', files: { 'width.py': 'WIDTH = 2\n' } },
    { message: 'Too wide', files: { 'width.py': null, ...results(1.3) } },
    // Kept after all.
    { message: 'Deeper again', files: { ...code('0.1', 8), ...results(0.91) } },
    { message: 'Half the rate', files: { ...code('0.05', 8), ...results(0.8) } },
  ])
  expect(lines(found)).toEqual([
    '0 reference: 1',
    '1 tried on 0: 1.1',
    '3 kept on 0: 0.9',
    '4 reference on 0: 1.02',
    '7 tried on 0: 1.3',
    '9 reference on 3: 0.91',
    '10 kept on 3: 0.8',
  ])
  expect(leftOut(found)).toEqual([
    'commit 2: returns to the code of 0',
    'commit 5: taken back by 6, and not measured before',
    'commit 6: returns to the code of 0',
    'commit 8: returns to the code of 0',
  ])
  expect(found.history.rows[1]!.note).toMatch(/^taken back by /)
})
