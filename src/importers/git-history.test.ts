import { expect, test } from 'vitest'
import { openRepository } from '../repository/repository.ts'
import { code, leftOut, lines, read, results, type ScratchCommit } from './scratch-commits.ts'

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
    {
      message: 'A sub-folder',
      files: { '"a/odd \\"name\\".md"': 'x\n', 'a/b/c.py': '1\n', 'a/b/metrics.json': '{}', ...results(0.8) },
    },
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
  ])
  expect(found.history.rows[1]!.note).toMatch(/^taken back by /)
})

test('a discard is taken back by what says so, also where it leaves something behind', async () => {
  const table = (...rows: string[]) => ({ 'results.tsv': `val_loss\tstatus\tdescription\n${rows.join('\n')}\n` })
  const first = '1\tkeep\tbaseline'
  const found = await read([
    { message: 'begin', files: { ...code('0.1'), ...table(first) } },
    { message: 'Dropout', files: { 'train.py': 'RATE = 0.1\nDEPTH = 4\ndropout(0.5)\n' } },
    {
      message: 'discard: dropout',
      files: { 'train.py': 'RATE = 0.1\nDEPTH = 4\ndropout(0)\n', ...table(first, '1.2\tdiscard\tdropout') },
    },
    { message: 'Deeper', files: { 'train.py': 'RATE = 0.1\nDEPTH = 8\ndropout(0)\n' } },
    { message: 'keep: deeper, 0.90', files: table(first, '1.2\tdiscard\tdropout', '0.9\tkeep\tdeeper') },
    // Its code was never committed.
    { message: 'log', files: table(first, '1.2\tdiscard\tdropout', '0.9\tkeep\tdeeper', '1.5\tdiscard\twider') },
  ])
  expect(lines(found)).toEqual(['0 reference: 1', '1 tried on 0: 1.2', '3 kept on 0: 0.9'])
  expect(found.history.rows[2]!.intervention.sentence).toBe('Deeper')
  expect(leftOut(found)).toEqual([
    'commit 5: its val_loss is that of a change that was thrown away, and whose code it does not have',
  ])
  expect(found.history.statuses).toEqual([
    { word: 'keep', meaning: 'reference', rows: 1 },
    { word: 'discard', meaning: 'finished', rows: 1 },
    { word: 'keep', meaning: 'kept', rows: 1 },
  ])
})

test('after a discard that stays in the line, a change stands on what its code is nearer to', async () => {
  const header = 'val_loss\tstatus\tdescription\n1\tkeep\tbaseline\n'
  const logged = [
    '1.2\tdiscard\twide',
    '1.3\tdiscard\tdeep',
    '0.9\tkeep\tfast',
    '1.1\tdiscard\tslow',
    '1.4\tdiscard\tslower',
  ]
  const table = (rows: number) => ({ 'results.tsv': header + logged.slice(0, rows).join('\n') })
  const state = (width: number, depth: number, rate: string) => ({
    'train.py': `WIDTH = ${width}\nDEPTH = ${depth}\nRATE = ${rate}\n`,
  })
  const found = await read([
    { message: 'begin', files: { ...state(4, 4, '0.1'), ...table(0) } },
    { message: 'Wide', files: { ...state(8, 4, '0.1'), ...table(1) } },
    // The width of before, and the next idea.
    { message: 'Deep', files: { ...state(4, 8, '0.1'), ...table(2) } },
    { message: 'Fast', files: { ...state(4, 4, '0.2'), ...table(3) } },
    { message: 'Slow', files: { ...state(4, 4, '0.05'), ...table(4) } },
    // On top of what was discarded.
    { message: 'And wide', files: { ...state(8, 4, '0.05'), ...table(5) } },
  ])
  expect(lines(found)).toEqual([
    '0 reference: 1',
    '1 tried on 0: 1.2',
    '2 tried on 0: 1.3',
    '3 kept on 0: 0.9',
    '4 kept on 3: 1.1',
    '5 tried on 4: 1.4',
  ])
  expect(found.history.rows[2]!.intervention.diff).not.toContain('+WIDTH')
})

test('merges are no changes of their own, and much that nothing measured is none either', async () => {
  const many = Array.from(
    { length: 6 },
    (_, index): ScratchCommit => ({ message: `step ${index}`, files: { 'a.py': `${index}` } }),
  )
  const found = await read([
    { message: 'begin', files: { ...code('0.1'), ...results(1) } },
    { message: 'Aside', files: { 'side.py': '1\n' } },
    { message: 'Raise the rate', files: { ...code('0.2'), ...results(0.9) }, on: 0 },
    { message: "Merge branch 'side'", merges: 1, files: { 'side.py': '1\n' } },
    { message: 'Deeper', files: { ...code('0.2', 8), ...results(0.8) } },
    { message: "Merge branch 'other'", merges: 1, files: { ...code('0.3', 8), ...results(0.85) } },
    { message: 'Half the rate', files: { ...code('0.15', 8), ...results(0.7) } },
    ...many,
    { message: 'Measured at last', files: { ...code('0.1', 9), ...results(0.6) } },
  ])
  expect(lines(found)).toEqual([
    '0 reference: 1',
    '2 kept on 0: 0.9',
    '4 kept on 2: 0.8',
    '5 reference: 0.85',
    '6 kept on 5: 0.7',
    '13 reference: 0.6',
  ])
  expect(leftOut(found).slice(0, 2)).toEqual([
    'commit 3: a merge: part of the change that 4 is',
    'commit 7: not measured by itself: part of the reference that 13 is',
  ])
})

test('a change that did not finish is a failure, and its code is part of the next', async () => {
  const found = await read([
    { message: 'begin, val_loss 1.000', files: code('0.1') },
    { message: 'oom: width 4096', files: code('4096') },
    { message: 'Raise the rate (val_loss NaN)', files: { ...code('9'), 'results.json': '{"val_loss": NaN}' } },
    { message: 'Lower the rate: val_loss 0.900', files: code('0.05') },
  ])
  expect(lines(found)).toEqual([
    '0 reference: 1',
    '1 tried on 0: crashed',
    '2 tried on 0: diverged',
    '3 kept on 0: 0.9',
  ])
  expect(found.history.rows[1]!.outcome.reason).toBe('the message says "oom"')
  expect(found.history.rows[3]!.intervention.sentence).toBe('width 4096\nRaise the rate\nLower the rate')
})

test('where merges are what is measured, they are the changes', async () => {
  const merge = (at: number, title: string, rate: string, loss: number): readonly ScratchCommit[] => [
    { message: `work ${at}`, files: code(rate), ...(at > 0 ? { on: at - 1 } : {}) },
    {
      message: `Merge pull request #${at} from ada/topic\n\n${title}`,
      on: at - 1,
      merges: at,
      files: { ...code(rate), ...results(loss) },
    },
  ]
  const found = await read([
    { message: 'begin', files: { ...code('0.1'), ...results(1) } },
    ...merge(1, 'Raise the rate', '0.2', 0.9),
    ...merge(3, 'Lower the rate', '0.05', 0.8),
  ])
  expect(lines(found)).toEqual(['0 reference: 1', '2 kept on 0: 0.9', '4 kept on 2: 0.8'])
  expect(found.history.rows[1]!.intervention.sentence).toBe('Raise the rate')
  expect(found.history.guesses).toContain(
    'a merge is a change of its own, as most of the commits that were measured are merges',
  )
})
