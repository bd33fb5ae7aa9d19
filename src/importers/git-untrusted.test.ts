import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRepository } from '../repository/repository.ts'
import { gitIn, scratchFolder } from '../repository/scratch-repository.ts'
import { attachDiffs } from './commit-diffs.ts'
import { gitHistory } from './git-history.ts'
import { readResultsTsv } from './results-tsv.ts'
import { code, lines, results, type ScratchCommit, scratchCommits } from './scratch-commits.ts'

const commits: readonly ScratchCommit[] = [
  { message: 'begin', files: { ...code('0.1'), ...results(1), '.gitattributes': '* diff=evil filter=evil\n' } },
  { message: 'Raise the rate', files: { ...code('0.2'), ...results(0.9) } },
  { message: 'Deeper', files: { ...code('0.2', 8), ...results(0.8) } },
]

async function historyAt(root: string, revisions?: string) {
  const options = revisions === undefined ? {} : { revisions }
  const [history] = await gitHistory.read({ kind: 'folder', path: root, name: 'trials' }, options)
  return history!
}

test('nothing that a repository configures is run, and no setting of it changes what is read', async () => {
  const { root, hashes } = scratchCommits([
    ...commits,
    { message: 'Data', files: { 'data.txt': 'numbers\n', ...code('0.3', 8), ...results(0.7) } },
  ])
  // It will be fetched from an address that is a program, if anything fetches at all.
  const lost = gitIn(root, 'rev-parse', `${hashes[3]}:data.txt`)
  rmSync(join(root, '.git', 'objects', lost.slice(0, 2), lost.slice(2)))
  // Git would show its signature to a program.
  const signed = gitIn(root, 'cat-file', 'commit', hashes[3]!).replace(
    /^(committer .*)$/m,
    '$1\ngpgsig -----BEGIN-----\n -----END-----',
  )
  const commit = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: root,
    input: signed,
    encoding: 'utf8',
  })
  gitIn(root, 'update-ref', 'refs/heads/main', commit.trim())
  const plain = await historyAt(root)
  const folder = scratchFolder()
  const mark = join(folder, 'ran')
  const program = join(folder, 'program')
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\ncat\n`)
  chmodSync(program, 0o755)
  const programs =
    'core.fsmonitor core.pager core.sshCommand core.editor diff.external diff.evil.textconv diff.evil.command filter.evil.smudge ' +
    'filter.evil.clean filter.evil.process gpg.program credential.helper uploadpack.packObjectsHook core.alternateRefsCommand'
  for (const name of programs.split(' ')) gitIn(root, 'config', name, program)
  const settings = {
    'log.showSignature': 'true',
    'filter.evil.required': 'true',
    'diff.noprefix': 'true',
    'diff.mnemonicPrefix': 'true',
    'diff.algorithm': 'patience',
    'diff.context': '0',
    'diff.relative': 'true',
    'color.ui': 'always',
    'log.showRoot': 'false',
    'log.date': 'relative',
    'format.pretty': 'oneline',
    'i18n.logOutputEncoding': 'UTF-16',
    'extensions.partialClone': 'origin',
    'remote.origin.promisor': 'true',
    'remote.origin.url': `ext::${program}`,
    'protocol.ext.allow': 'always',
  }
  for (const [name, value] of Object.entries(settings)) gitIn(root, 'config', name, value)
  for (const hook of ['post-checkout', 'reference-transaction', 'pre-auto-gc']) {
    symlinkSync(program, join(root, '.git', 'hooks', hook))
  }
  expect(await historyAt(root)).toEqual(plain)
  expect(lines({ root, hashes: [...hashes.slice(0, 3), commit.trim()], history: plain })).toEqual([
    '0 reference: 1',
    '1 kept on 0: 0.9',
    '2 kept on 1: 0.8',
    '3 kept on 2: 0.7',
  ])
  expect(existsSync(mark)).toBe(false)
})

test('a table that lies in such a repository makes git fetch nothing for the commits that it names', async () => {
  const { root, hashes } = scratchCommits(commits)
  const tree = gitIn(root, 'rev-parse', `${hashes[1]}^{tree}`)
  rmSync(join(root, '.git', 'objects', tree.slice(0, 2), tree.slice(2)))
  const mark = join(scratchFolder(), 'ran')
  const settings = {
    'extensions.partialClone': 'origin',
    'remote.origin.promisor': 'true',
    'remote.origin.url': `ext::touch ${mark}`,
    'protocol.ext.allow': 'always',
  }
  for (const [name, value] of Object.entries(settings)) gitIn(root, 'config', name, value)
  const rows = hashes.map((hash, index) => `${hash.slice(0, 9)}\t${1 - index / 10}\tkeep\tchange ${index}`)
  const history = readResultsTsv(['commit\tval_loss\tstatus\tdescription', ...rows].join('\n'), 'results.tsv')
  await attachDiffs(history, await openRepository(root)).catch(() => {})
  expect(existsSync(mark)).toBe(false)
})

test('what is too long, too large or missing is left out, and said', async () => {
  const long = Array.from({ length: 20_000 }, (_, index) => `line ${index} of a list\n`).join('')
  const large = Buffer.alloc(2_000_000, 7)
  const { root, hashes } = scratchCommits([
    ...commits,
    { message: 'A list', files: { 'list.py': long, ...results(0.7) } },
    { message: 'Weights', files: { 'weights.bin': large, ...code('0.3', 8), ...results(0.6) } },
    { message: 'Data', files: { 'data.txt': '1\n', ...code('0.4', 8), ...results(0.5) } },
    { message: 'Theirs', files: { theirs: ['submodule', '1'.repeat(40)], ...code('0.5', 8), ...results(0.4) } },
  ])
  const lost = gitIn(root, 'rev-parse', `${hashes[5]}:data.txt`)
  rmSync(join(root, '.git', 'objects', lost.slice(0, 2), lost.slice(2)))
  const history = await historyAt(root)
  const diffs = history.rows.slice(3).map(({ intervention }) => intervention.diff)
  expect(diffs[0]).toBeNull()
  expect(diffs[1]).toMatch(/-RATE = 0.2\n\+RATE = 0.3/)
  expect(diffs[2]).toMatch(/-RATE = 0.3\n\+RATE = 0.4/)
  expect(diffs.slice(1).join('')).not.toMatch(/weights|data\.txt|theirs/)
  expect(history.rows.at(-1)!.code!.treeAfterDiff).not.toBe(history.rows.at(-1)!.code!.tree)
  expect(history.guesses).toContain('1 changes have no diff: it is longer than 256 KiB')
})

test('a link is no file of results, wherever it leads and whatever it is called', async () => {
  const outside = join(scratchFolder(), 'results.json')
  writeFileSync(outside, '{"val_loss": 0.123}')
  const { root } = scratchCommits([
    ...commits,
    { message: 'Elsewhere', files: { ...code('0.5'), 'results.json': ['->', outside] } },
    { message: 'Nowhere', files: { ...code('0.6'), 'results.json': ['->', '{"val_loss": 0.123}'] } },
  ])
  const history = await historyAt(root)
  expect(history.rows).toHaveLength(3)
  expect(JSON.stringify(history)).not.toContain('0.123')
})

test('a range is read alone, and is never an option', async () => {
  const { root, hashes } = scratchCommits(commits)
  const part = await historyAt(root, `${hashes[0]}..main`)
  expect(lines({ root, hashes, history: part })).toEqual(['1 reference: 0.9', '2 kept on 1: 0.8'])
  const written = join(root, 'written')
  for (const revisions of [`--output=${written}`, '', 'a\nb', 'nothing']) {
    await expect(historyAt(root, revisions)).rejects.toThrow(/is no revision|cannot list the commits/)
  }
  expect(existsSync(written)).toBe(false)
  await expect(historyAt(scratchFolder())).rejects.toThrow(/not a git repository/)
})
